"""Owners add and remove identities on the pages, and sign out at the provider."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.accounts.service import Accounts
from app.auth.idp.models import Identity
from app.core.context import service
from app.testing.clock import SteppingClock
from app.testing.people import Person
from app.workspaces.service import Workspaces

from ..conftest import MakePerson, only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.oidc.browser import query_of
from ..rigs.oidc.campus import ADA, Campus
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import GitHub, Google
from .page_client import PageClient, ParsedPage

pytestmark = only_on("sqlite")
PAGE = "/security/identities"
CALLBACK = "/sign-in/provider/google/callback"
FINISH = f"{PAGE}/google/finish"


@pytest.fixture
def ada(
    make_providers_app: MakeProvidersApp, google: Google, github: GitHub, person: MakePerson
) -> Person:
    app = make_providers_app(
        google=client_of("google"), github=client_of("github"), CORE__PUBLIC_URL=HOST
    )
    return person("ada", into=app)


def signed_in(person: Person, at: str = PAGE) -> PageClient:
    client = PageClient(person.app)
    client.sign_in(person.email, person.password, f"/sign-in?next={at}")
    return client


def consent(client: PageClient, google: Google, **user: Any) -> dict[str, str]:
    """Begin to add Google, and return what Google sends back."""
    seen = client.submit(f"{PAGE}/google/add")
    [url] = [link for link in seen.links if link.startswith(google.url)]
    assert client.answer.headers["Refresh"] == f"0; url={url}"
    return google.authorize(url, **{"sub": "g-1", "email": "ada@gmail.com", **user})


def add(client: PageClient, google: Google, **user: Any) -> ParsedPage:
    client.open(CALLBACK, query_string=consent(client, google, **user))
    return client.submit(FINISH)


def test_owner_adds_and_removes_an_identity(ada: Person, google: Google) -> None:
    client = signed_in(ada, "/security")
    assert {PAGE} < {*client.page.links}
    seen = client.open(PAGE)
    assert {f"{PAGE}/google/add", f"{PAGE}/github/add"} <= {each.action for each in seen.forms}
    seen = add(client, google)
    assert (client.path, client.is_signed_in()) == (PAGE, True)
    assert "You can now sign in with Google." in seen.text
    assert "ada@gmail.com" in seen.text
    assert f"{PAGE}/google/add" not in {each.action for each in seen.forms}
    [remove] = [each.action for each in seen.forms if each.action.endswith("/remove")]
    seen = client.submit(remove)
    assert "You can no longer sign in with Google." in seen.text
    assert f"{PAGE}/google/add" in {each.action for each in seen.forms}


def test_identity_of_another_account_cannot_be_added(
    ada: Person, google: Google, person: MakePerson
) -> None:
    add(signed_in(ada), google)
    seen = add(client := signed_in(person("eve", into=ada.app)), google)
    assert client.status == 409
    assert "Another account is linked to this user of the identity provider." in seen.text


def test_link_can_only_be_finished_in_the_session_that_began_it(
    ada: Person, google: Google, person: MakePerson
) -> None:
    """An attacker sends the response for their own identity to the owner."""
    eve = signed_in(person("eve", into=ada.app))
    back = consent(eve, google, sub="g-eve")
    client = signed_in(ada)
    client.open(CALLBACK, query_string=back)
    client.submit(CALLBACK)
    assert client.status == 400
    with ada.app.app_context():
        assert service(Accounts).session.scalars(select(Identity)).all() == []


def test_page_of_another_site_begins_no_link(ada: Person) -> None:
    client = signed_in(ada)
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    for method, status in (("GET", 405), ("POST", 403)):
        answer = client.client.open(
            f"{PAGE}/google/add", method=method, base_url=HOST, headers=headers
        )
        assert answer.status_code == status
        assert "Refresh" not in answer.headers


def test_canceled_link_returns_to_the_page_of_identities(ada: Person, google: Google) -> None:
    client = signed_in(ada)
    back = consent(client, google)
    seen = client.open(CALLBACK, query_string={"error": "access_denied", "state": back["state"]})
    assert "Your account was not linked" in seen.text
    assert PAGE in seen.links


def test_only_sign_in_method_stays(
    ada: Person, google: Google, make_providers_app: MakeProvidersApp
) -> None:
    client = signed_in(ada)
    add(client, google)
    with ada.app.app_context():
        accounts = service(Accounts)
        account = accounts.by_id(ada.id)
        assert account is not None
        account.password_hash = None
        accounts.session.commit()
    seen = client.open(PAGE)
    [remove] = [each.action for each in seen.forms if each.action.endswith("/remove")]
    seen = client.submit(remove)
    assert client.status == 409
    assert "This is your only way to sign in. Set a password" in seen.text


def test_identities_need_a_recent_sign_in(ada: Person, clock: SteppingClock) -> None:
    client = signed_in(ada)
    clock.step(minutes=30)
    client.open(PAGE)
    assert client.path == f"/confirm?next={PAGE}"
    client.submit("/confirm", password=ada.password)
    assert client.path == PAGE


def test_admins_see_which_provider_gave_a_role_and_a_membership(
    make_providers_app: MakeProvidersApp, google: Google, person: MakePerson
) -> None:
    groups: dict[str, Any] = {
        "groups_claim": "groups",
        "roles": {"admins": "admin"},
        "workspaces": {"devs": {"slug": "garden", "type": "member"}},
    }
    app = make_providers_app(google=client_of("google", title="Acme", **groups))
    ada, root = person("ada", into=app), person("root", into=app, role="root")
    with app.app_context():
        service(Workspaces).create(service(Accounts).get(root.email), "Garden", "garden")
    path = f"/admin/accounts/{ada.id}"
    client = signed_in(root, path)
    assert "by the provider" not in client.page.text.lower()
    user: dict[str, Any] = {"sub": "g-1", "email": ada.email, "email_verified": True}
    Guest(app, "google").sign_in(google, **user, groups=["admins", "devs"])
    seen = client.open(path)
    assert "By the provider Acme." in seen.text
    assert "garden · by the provider Acme" in client.open(f"{path}?tab=workspaces").text
    # Root has changed the role since.
    ada.change(role="user")
    assert "By the provider Acme." not in client.open(path).text


def test_sign_out_offers_the_sign_out_of_the_provider(
    make_providers_app: MakeProvidersApp, campus: Campus, person: MakePerson
) -> None:
    provider = {**campus.settings, "title": "Campus"}
    app = make_providers_app(campus=provider, CORE__PUBLIC_URL=HOST)
    client = signed_in(person("ada", into=app))
    client.submit("/sign-out")
    assert "You are signed out." in client.page.text
    answer = client.client.get("/sign-in/provider/campus", base_url=HOST, headers=SAME_ORIGIN)
    back = campus.authorize(answer.headers["Location"], **ADA)
    client.open("/sign-in/provider/campus/callback", query_string=back)
    client.submit("/sign-in/provider/campus/callback")
    client.open(PAGE)
    seen = client.submit("/sign-out")
    assert "Also sign out of Campus" in seen.text
    assert "Sign in to" in PageClient(app).open("/sign-out").text
    [url] = [link for link in seen.links if link.startswith(campus.url)]
    assert query_of(url)["id_token_hint"]
    assert not client.is_signed_in()
