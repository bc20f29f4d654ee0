"""`AUTH__PASSWORDS=off`: nothing sets or checks a password, and stored passwords stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.mfa.notices import FactorNotices
from app.auth.schemas import _KnownPassword, _Password
from app.auth.sign_in.password import Login
from app.core.config.environment import SettingsError
from app.core.context import current_frontdesk, service
from app.core.errors import FeatureOff
from app.core.process.folders import templates_folder
from app.core.web.operation import find_operation, schema_class
from app.delivery.mail.previews import Previews
from app.delivery.mail.templates import Templates
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..audit.entries import records
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..console.page_client import PageClient, link_of
from ..registration.visitors import code_in
from ..rigs.routes import api_rules
from .test_login_codes import ask, mailed_code, verify

ADA = "ada@example.com"
ON = {
    "AUTH__SESSIONS": "on",
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "CORE__KEYSTORE": "database",
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON, AUTH__PASSWORDS="off")


@pytest.fixture
def ada(app: Flask, make_app: MakeApp, person: MakePerson) -> Person:
    """An account with a stored password, of the time when passwords were on."""
    return person("ada", into=make_app(**ON), role="root")


def test_start_needs_another_sign_in_method(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="PASSWORDS is off"):
        make_app(AUTH__PASSWORDS="off", AUTH__PASSKEYS="on")


def by_code(app: Flask, mails: MailOutbox, email: str = ADA) -> Api:
    api = Api(app)
    login_id = ask(api, email)["login_id"]
    token = verify(api, login_id, mailed_code(mails, email)).json["access_token"]
    return api.as_token(token)


OFF = {
    ("POST", "/login"),
    ("POST", "/session"),
    ("POST", "/password-recovery"),
    ("POST", "/verify-token"),
    ("POST", "/reset-password"),
    ("PUT", "/account/password"),
    ("POST", "/admin/accounts/<account_id:account_id>/recovery"),
}
REJECTED = {
    ("POST", "/registration"),
    ("POST", "/reauthenticate"),
    ("POST", "/account/email"),
    ("POST", "/account/email/confirm"),
    ("DELETE", "/account"),
    ("POST", "/account/exports"),
    ("POST", "/admin/accounts/"),
}


def password_routes(app: Flask) -> Iterator[tuple[str, str, list[str]]]:
    """Yield every route of the API that reads a password, and those that only email one."""
    for rule in api_rules(app):
        found = find_operation(app.view_functions[rule.endpoint])
        if found is None:
            continue
        with app.test_request_context():
            schemas = [schema_class(each)() for each in found.reads.values()]
        fields = {name: field for each in schemas for name, field in each.load_fields.items()}
        names = [
            name for name, field in fields.items() if isinstance(field, (_Password, _KnownPassword))
        ]
        # Data exports have a setting of their own.
        is_off = FeatureOff in found.problems and not rule.endpoint.startswith("exports.")
        if names or is_off:
            [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            yield method, rule.rule.removeprefix("/api/v1"), names


def test_no_route_accepts_a_password(app: Flask, ada: Person, mails: MailOutbox) -> None:
    root, visitor = by_code(app, mails), Api(app)
    seen: dict[str, set[tuple[str, str]]] = {"off": set(), "rejected": set()}
    for method, path, names in password_routes(app):
        body: dict[str, Any] = dict.fromkeys(names, PASSWORD)
        sent = {"data": {"username": ADA, **body}} if path == "/login" else {"json": body}
        url = path.replace("<account_id:account_id>", str(ada.id))
        if (method, path) in OFF:
            # The same for what no schema would load.
            malformed: list[dict[str, Any]] = [{}, {"data": b"{", "content_type": "text/plain"}]
            for each in (sent, *malformed):
                assert visitor.send(method, url, 404, **each).json["code"] == "feature_off", path
            seen["off"].add((method, path))
            continue
        faults = root.send(method, url, 422, **sent).json["errors"]
        codes = {fault["field"]: fault["code"] for fault in faults}
        assert [codes[name] for name in names] == ["unknown_field"] * len(names), path
        seen["rejected"].add((method, path))
    assert seen == {"off": OFF, "rejected": REJECTED}


# Emails that only requests about a password send, which respond 404.
ABOUT_PASSWORDS = {"account_made", "no_account", "password_changed", "reset_password"}


def test_no_email_mentions_a_password(app: Flask, make_app: MakeApp) -> None:
    def mentions(app: Flask, name: str) -> list[str]:
        with app.test_request_context():
            previews = Previews(service(Templates), current_frontdesk.settings.core)
            email = previews.email(name, ADA)
        text = f"{email.subject}\n{email.text}\n{email.html}".lower()
        return re.findall("password|reset (?:it|your)", text.replace("password manager", ""))

    names = {path.stem for path in templates_folder().glob("*.html")}
    assert names > ABOUT_PASSWORDS
    found = {name: mentions(app, name) for name in names - ABOUT_PASSWORDS}
    assert {name: words for name, words in found.items() if words} == {}
    assert mentions(make_app(**ON), "factor_added") != []


def test_subject_of_guessed_codes_mentions_no_password(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(**ON, AUTH__PASSWORDS="off", AUTH__MFA="optional")
    with app.app_context():
        service(FactorNotices).factor_guessed(ADA)
    assert mails.last(ADA).subject.endswith(": someone tried to sign in to your account")


def test_log_names_the_setting(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        Api(app).post("/login", 404, data={"username": ADA, "password": PASSWORD})
    assert "setting=AUTH__PASSWORDS" in caplog.text


def test_stored_password_is_kept_and_never_compared(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    by_code(app, mails)
    with app.app_context():
        account = service(Accounts).get(ADA)
        assert account.password_hash is not None
        for use in (
            lambda: service(Login).verify(ADA, PASSWORD, "203.0.113.9"),
            lambda: service(Accounts).create("bob@example.com", PASSWORD),
            lambda: service(Accounts).change(account, password=PASSWORD),
        ):
            with pytest.raises(FeatureOff):
                use()
        assert service(Accounts).find("bob@example.com") is None


def test_users_register_and_are_created_without_a_password(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    api = Api(app)
    api.post("/registration", 202, json={"email": "bob@example.com"})
    token = code_in(mails.last("bob@example.com").text)
    api.post("/email-verification", json={"email": "bob@example.com", "token": token})
    assert by_code(app, mails, "bob@example.com").get("/account").json["role"] == "user"
    root = by_code(app, mails)
    made = root.post("/admin/accounts/", 201, json={"email": "eve@example.com"}).json
    assert made["has_password"] is False
    refused = {"email": "dan@example.com", "invite": True}
    assert root.post("/admin/accounts/", 422, json=refused).json["errors"][0]["field"] == "invite"


def test_undoing_an_email_change_sends_no_password_email(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    by_code(app, mails).post("/account/email", 202, json={"email": "new@example.com"})
    undo = link_of(mails, ADA).partition("token=")[2]
    sent = len(mails.sent)
    Api(app).post("/account/email/undo", json={"token": undo})
    assert [email.subject for email in mails.sent[sent:]] == []


def run(app: Flask, *args: str, code: int = 0) -> str:
    result = app.test_cli_runner().invoke(args=["accounts", *args])
    assert result.exit_code == code, result.output
    return result.output


@only_on("sqlite")
def test_commands_refuse_passwords(make_app: MakeApp, ada: Person, tmp_path: Path) -> None:
    first = {"FIRST_SUPERUSER": "first@example.com", "FIRST_SUPERUSER_PASSWORD": "changethis"}
    app = make_app(**ON, **first, AUTH__PASSWORDS="off")
    for command in (["create", "bob@example.com"], ["set", ADA]):
        assert "AUTH__PASSWORDS is off" in run(app, *command, "--password", PASSWORD, code=2)
    assert json.loads(run(app, "create", "bob@example.com"))["email"] == "bob@example.com"
    assert json.loads(run(app, "ensure-superuser"))["role"] == "root"
    rows = tmp_path / "rows.jsonl"
    hashed = {"email": "dan@example.com", "password_hash": "$2b$04$" + "a" * 53}
    rows.write_text(f"{json.dumps(hashed)}\n" + json.dumps({"email": "eve@example.com"}))
    numbers = json.loads(run(app, "import", str(rows), code=3).splitlines()[0])
    assert (numbers["imported"], numbers["reasons"]) == (1, {"passwords_off": 1})


@pytest.fixture
def page(app: Flask) -> PageClient:
    return PageClient(app)


@only_on("sqlite")
def test_pages_have_no_password(app: Flask, ada: Person, page: PageClient) -> None:
    for path in ("/sign-in", "/register"):
        page.open(path)
        assert 'type="password"' not in page.answer.text
        assert "/forgot" not in page.answer.text
    for path in ("/forgot", "/reset", "/security/password"):
        page.open(path)
        assert page.answer.status_code == 404, path
    page.open(link(app))
    page.submit("/sign-in/link")
    for path in (
        "/security",
        "/security/email",
        "/account",
        "/account/delete",
        "/confirm",
        "/admin/accounts/new",
        f"/admin/accounts/{ada.id}",
    ):
        page.open(path)
        assert page.answer.status_code == 200, path
        assert 'type="password"' not in page.answer.text, path
        assert "/security/password" not in page.answer.text, path
        assert "Send password reset" not in page.answer.text, path


def link(app: Flask, email: str = ADA) -> str:
    """Return the path of a new sign-in link."""
    found = run(app, "sign-in-link", email).strip()
    return found.removeprefix("http://localhost:3000")


def test_sign_in_link_works_once(app: Flask, ada: Person) -> None:
    token = link(app).partition("token=")[2]
    signed_in = Api(app).post("/login/link", json={"token": token}).json
    assert signed_in["account"]["id"] == ada.id
    # The last character of a signature has several spellings.
    for again in (token, token[:-1] + chr(ord(token[-1]) + 1)):
        assert Api(app).post("/login/link", 400, json={"token": again}).json["code"]
    [created] = records(app, type="login.link_created")
    assert (created.account_id, created.actor_id) == (ada.id, None)
    [found] = records(app, type="login.succeeded")
    assert found.data == {"proofs": ["link"]}


@only_on("sqlite")
def test_page_of_a_sign_in_link_says_when_it_is_of_no_use(
    app: Flask, ada: Person, page: PageClient, clock: SteppingClock
) -> None:
    path = link(app)
    page.open("/sign-in/link")
    assert "Open this page with the whole link" in page.answer.text
    page.open(f"{path}x")
    assert "This link has expired" in page.answer.text
    page.open(path)
    assert "It can be used once" in page.answer.text
    clock.step(minutes=11)
    page.open(path)
    assert "Ask the operator for a new one" in page.answer.text
    assert "/sign-in/link" not in page.answer.text


def test_account_that_is_not_active_gets_no_sign_in_link(app: Flask, ada: Person) -> None:
    ada.change(status="suspended")
    output = run(app, "sign-in-link", ADA, code=1)
    assert f"The account {ADA} is suspended, so no link can sign it in." in output
    assert f"flask accounts set {ADA} --status active" in output
    assert records(app, type="login.link_created") == []


def test_sign_in_ends_other_sign_in_links(app: Flask, ada: Person, clock: SteppingClock) -> None:
    """So a used link is of no use in a process that does not know of its use."""
    earlier = link(app).partition("token=")[2]
    clock.step(minutes=1)
    Api(app).post("/login/link", json={"token": link(app).partition("token=")[2]})
    Api(app).post("/login/link", 400, json={"token": earlier})


def test_sign_in_link_expires(app: Flask, ada: Person, clock: SteppingClock) -> None:
    token = link(app).partition("token=")[2]
    clock.step(minutes=11)
    Api(app).post("/login/link", 400, json={"token": token})


def test_sign_in_link_is_used_once_at_a_time(app: Flask, ada: Person) -> None:
    token = link(app).partition("token=")[2]

    def use(_: int) -> int:
        return app.test_client().post("/api/v1/login/link", json={"token": token}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(use, range(4))) == [200, 400, 400, 400]
