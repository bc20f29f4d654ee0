"""Personal tokens on the console's pages: for their owners, and for roots."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST, CookieBrowser
from .form_client import FormClient
from .page_client import link_of
from .page_reader import error_of, notice_of, visible_text

PAGE = "/security/tokens"
NEW = f"{PAGE}/new"
FORM: dict[str, Any] = {"name": "Nightly backup", "scopes": ["account:read", "profiles:read"]}
API = "/personal-tokens"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def pages(app: Flask, ada: Person) -> FormClient:
    return FormClient(app, ada)


def make_token(person: Person, **members: Any) -> dict[str, Any]:
    created: dict[str, Any] = person.api().post(API, 201, json={**FORM, **members}).json
    return created


def names(api: Api) -> list[str]:
    return [each["name"] for each in api.get(API).json]


def secret_in(page: str) -> str:
    [secret] = set(re.findall(r"fdp_[0-9A-Za-z]{38}", page))
    return str(secret)


def test_owner_creates_a_token_that_is_shown_once(pages: FormClient, ada: Person) -> None:
    answer = pages.post(NEW, 200, **FORM, days="30", workspace="")
    secret = secret_in(answer.text)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["HX-Push-Url"] == "false"
    assert ada.api().as_token(secret).get("/account").json["email"] == ada.email
    [token] = ada.api().get(API).json
    listed = pages.get(PAGE)
    assert secret not in listed + pages.get(NEW)
    shown = visible_text(listed)
    for text in ("Nightly backup", f"{token['prefix']}…", "account:read, profiles:read"):
        assert text in shown
    assert "Last used" in shown
    assert "Expires soon" not in shown


def test_list_shows_workspace_and_end_of_each_token(
    pages: FormClient, ada: Person, clock: SteppingClock
) -> None:
    ada.api().post("/workspaces", json={"name": "Engines", "slug": "engines"})
    make_token(ada, workspace="engines", days=7)
    shown = visible_text(pages.get(PAGE))
    for text in ("Only in the workspace engines", "Expires soon", "Not used yet"):
        assert text in shown
    clock.step(days=7)
    again = FormClient(pages.browser.app, ada)
    assert "No tokens yet" in again.get(PAGE)


def test_form_offers_scopes_of_the_role_and_active_workspaces(
    pages: FormClient, app: Flask, ada: Person, person: MakePerson
) -> None:
    assert offered(pages.get(NEW), "workspace") == ["", "ada"]
    scopes = offered(pages.get(NEW), "scopes")
    assert "members:write" in scopes
    assert not {"accounts:read", "accounts:write", "notifications:send"} & {*scopes}
    boss = FormClient(app, person("boss", role="admin"))
    assert {"accounts:read", "accounts:write", "notifications:send"} < {
        *offered(boss.get(NEW), "scopes")
    }


def offered(page: str, name: str) -> list[str]:
    if name == "workspace":
        [select] = re.findall(r'(?s)<select[^>]* name="workspace".*?</select>', page)
        return re.findall(r'<option value="([^"]*)"', select)
    return re.findall(rf'name="{name}" value="([^"]*)"', page)


def test_rejected_form_keeps_the_input(pages: FormClient, ada: Person) -> None:
    page = pages.post(NEW, 422, name="Backup", days="400", workspace="ada").text
    assert error_of(page, "scopes") == "This field is required."
    assert error_of(page, "days") == "Enter a number from 1 to 366."
    assert 'value="Backup"' in page
    assert '<option value="ada" selected>' in page
    page = pages.post(NEW, 422, **{**FORM, "workspace": "other"}).text
    assert error_of(page, "workspace")
    page = pages.post(NEW, 422, **{**FORM, "scopes": ["account:read", "root"]}).text
    assert error_of(page, "scopes")
    assert 'value="account:read" checked' in page
    assert names(ada.api()) == []


def test_page_says_that_there_are_as_many_tokens_as_possible(
    pages: FormClient, ada: Person
) -> None:
    for _ in range(25):
        make_token(ada)
    page = pages.post(NEW, 409, **FORM).text
    assert "End a token that is no longer used." in page


def test_creation_needs_a_recent_sign_in_and_keeps_the_form(
    pages: FormClient, ada: Person, clock: SteppingClock
) -> None:
    clock.step(minutes=16)
    # The list, and ending a token, need none.
    token = make_token(ada)
    pages.get(PAGE)
    assert "Ended Nightly backup." in pages.post_and_follow(f"{PAGE}/{token['id']}/end")
    led = pages.browser.client.get(NEW, base_url=HOST)
    assert (led.status_code, led.headers["Location"]) == (303, f"/confirm?next={NEW}")
    sent = pages.post(NEW, **FORM, days="30", workspace="ada")
    assert sent.headers["Location"].startswith("/confirm")
    page = pages.post_and_follow("/confirm", password=PASSWORD, way="password", next=NEW)
    assert 'value="Nightly backup"' in page
    assert 'value="profiles:read" checked' in page
    assert 'value="30"' in page
    assert names(ada.api()) == []


def test_owner_ends_one_or_all_tokens(
    pages: FormClient, app: Flask, ada: Person, person: MakePerson
) -> None:
    tokens = [make_token(ada, name=name) for name in ("One", "Two", "Three")]
    other = make_token(bob := person("bob"))
    pages.post(f"{PAGE}/{other['id']}/end", 404)
    path = f"{PAGE}/{tokens[1]['id']}/end"
    assert notice_of(pages.post_and_follow(path)) == "Ended Two."
    assert "The personal token does not exist." in pages.post(path, 404).text
    assert names(ada.api()) == ["Three", "One"]
    assert notice_of(pages.post_and_follow(f"{PAGE}/end")) == "Ended 2 tokens."
    assert notice_of(pages.post_and_follow(f"{PAGE}/end")) == "Ended 0 tokens."
    ada.api().as_token(tokens[0]["token"]).get("/account", 401)
    assert names(bob.api()) == ["Nightly backup"]


def test_api_ends_all_tokens_of_the_caller(ada: Person, person: MakePerson) -> None:
    tokens = [make_token(ada), make_token(ada)]
    make_token(bob := person("bob"))
    ada.api().as_token(tokens[0]["token"]).delete(API, 403)
    assert ada.api().delete(API).json == {"ended": 2}
    assert ada.api().delete(API).json == {"ended": 0}
    assert names(bob.api()) == ["Nightly backup"]


def test_change_of_password_leads_to_the_tokens_that_it_does_not_end(
    pages: FormClient, app: Flask, ada: Person
) -> None:
    change = {"current_password": PASSWORD, "new_password": "otters like cold rivers"}
    assert "Tokens for programs still work." in pages.get("/security/password")
    token = make_token(ada)
    page = pages.post_and_follow("/security/password", **change)
    assert notice_of(page) == "Password changed. All other sessions have ended."
    assert "Your tokens still work" in page
    Api(app, "/api/v1").as_token(token["token"]).get("/account")
    pages.post(f"{PAGE}/end")
    # Without a token, nothing is to end.
    again = {"current_password": change["new_password"], "new_password": PASSWORD}
    assert pages.post("/security/password", **again).headers["Location"] == "/security"


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_change_of_email_leads_to_the_tokens_that_it_does_not_end(
    pages: FormClient, app: Flask, ada: Person, mails: MailOutbox, is_signed_in: bool
) -> None:
    token = make_token(ada)
    pages.post("/security/email", email="ada@new.example")
    path, _, proof = link_of(mails, "ada@new.example").partition("?token=")
    browser = pages if is_signed_in else FormClient(app)
    form = {"token": proof} if is_signed_in else {"token": proof, "password": PASSWORD}
    answer = browser.post(path, **form)
    assert answer.headers["Location"] == f"{PAGE}?changed=true"
    page = browser.get(f"{PAGE}?changed=true")
    assert "Your tokens still work" in page
    account = Api(app, "/api/v1").as_token(token["token"]).get("/account").json
    assert account["email"] == "ada@new.example"


def test_root_ends_tokens_on_the_page_of_an_account(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    root, admin = (FormClient(app, person(role, role=role)) for role in ("root", "admin"))
    tokens = [make_token(ada, name=name) for name in ("One", "Two", "Three")]
    page = f"/admin/accounts/{ada.id}"
    shown, hidden = (client.get(f"{page}?tab=sessions") for client in (root, admin))
    assert tokens[0]["prefix"] in shown
    assert tokens[0]["prefix"] not in hidden
    admin.post(f"{page}/tokens/end", 403)
    shown = root.post_and_follow(f"{page}/tokens/{tokens[1]['id']}/end")
    assert notice_of(shown) == "Ended Two."
    rejected = root.post(f"{page}/tokens/{tokens[1]['id']}/end", 404).text
    assert "The personal token does not exist." in rejected
    assert notice_of(root.post_and_follow(f"{page}/tokens/end")) == "Ended 2 tokens."
    assert "fdp_" not in root.get(f"{page}?tab=sessions")
    assert names(ada.api()) == []


def test_pages_take_one_query_for_all_tokens(app: Flask, pages: FormClient, ada: Person) -> None:
    for _ in range(3):
        make_token(ada)
    for path in (PAGE, "/security"):
        pages.get(path)
        with noted_queries(app) as statements:
            pages.get(path)
        assert sum("personal_tokens" in each for each in statements) == 1, path
    with noted_queries(app) as statements:
        pages.get(NEW)
    assert sum("personal_tokens" in each for each in statements) == 0


def test_pages_need_a_sign_in(app: Flask) -> None:
    client = CookieBrowser(app).client
    for path in (PAGE, NEW):
        assert client.get(path, base_url=HOST).headers["Location"].startswith("/sign-in?next=")


def test_pages_do_not_exist_with_the_feature_off(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(**FEATURES | {"AUTH__PERSONAL_TOKENS": "off"})
    root = person("root", into=app, role="root")
    pages, account = FormClient(app, root), f"/admin/accounts/{person('ada', into=app).id}"
    for path in (PAGE, NEW):
        pages.get(path, 404)
    for path in (NEW, f"{PAGE}/end", f"{PAGE}/1/end", f"{account}/tokens/end"):
        pages.post(path, 404)
    with noted_queries(app) as statements:
        shown = "".join(
            map(pages.get, ("/security", "/security/password", f"{account}?tab=sessions"))
        )
    assert ">Tokens<" not in shown
    assert "Tokens for programs" not in shown
    assert not any("personal_tokens" in each for each in statements)
    change = {"current_password": PASSWORD, "new_password": "otters like cold rivers"}
    assert pages.post("/security/password", **change).headers["Location"] == "/security"
