"""Sign-out at the identity provider, by RP-initiated logout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jwt
import pytest
from flask import Flask
from sqlalchemy import select

from app.auth.idp import discovery
from app.auth.idp.provider_models import ProviderSession
from app.auth.idp.provider_sessions import ProviderSessions
from app.core.context import current_frontdesk, service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..cli.test_command_line import run
from ..cli.test_prune import run as prune
from ..conftest import MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.cookie_browsers import CookieBrowser
from ..rigs.oidc.browser import Browser, query_of
from ..rigs.oidc.campus import ADA, Campus
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import CLIENT_ID, GitHub
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET, POST_LOGOUT_URI
from ..rigs.oidc.proxy import Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor
from .factors import enroll, enrolled, finish

MakeCampusApp = Callable[..., Flask]


@pytest.fixture
def make_campus_app(make_providers_app: MakeProvidersApp, campus: Campus) -> MakeCampusApp:
    """Create the service with the fake provider and sessions."""

    def make(**environment: str) -> Flask:
        return make_providers_app(campus=campus.settings, **{"AUTH__SESSIONS": "on", **environment})

    return make


@pytest.fixture
def campus_app(make_campus_app: MakeCampusApp) -> Flask:
    return make_campus_app()


@pytest.fixture
def ada(campus_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=campus_app)


def links(app: Flask) -> list[ProviderSession]:
    with app.app_context():
        found = select(ProviderSession).order_by(ProviderSession.session_id)
        return list(current_frontdesk.session.scalars(found))


def sign_in(app: Flask, campus: Campus, **user: Any) -> Api:
    answer = Guest(app, "campus").sign_in(campus, **{**ADA, **user})
    return Api(app, token=answer.json["access_token"])


def test_session_is_linked_to_the_session_at_the_provider(
    campus_app: Flask, campus: Campus, ada: Person
) -> None:
    sign_in(campus_app, campus, sid="one")
    sign_in(campus_app, campus)
    ada.token()
    assert [link.sid for link in links(campus_app)] == ["one", None]
    # The ID token is encrypted for its row.
    first, second = links(campus_app)
    with campus_app.app_context():
        found = service(ProviderSessions)
        issuer, id_token = found.find(first.session_id) or ("", "")
        assert (issuer, str(id_token).count(".")) == (campus.issuer, 2)
        first.id_token, second.id_token = second.id_token, first.id_token
        current_frontdesk.session.add(first)
        current_frontdesk.session.add(second)
        current_frontdesk.session.commit()
        assert found.find(first.session_id) == (campus.issuer, None)


def test_link_survives_a_second_factor(
    make_campus_app: MakeCampusApp, campus: Campus, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_campus_app(AUTH__MFA="required", AUTH__MFA_METHODS='["totp"]')
    person("ada", into=app)
    required = Guest(app, "campus").sign_in(campus, 403, **ADA, sid="one").json
    assert not links(app)
    mfa = enroll(Api(app), clock, mfa_token=required["mfa_token"])
    assert [link.sid for link in links(app)] == ["one"]
    required = Guest(app, "campus").sign_in(campus, 403, **ADA, sid="two").json
    finish(Api(app), required["mfa_token"], otp=mfa.phone.next_code())
    assert [link.sid for link in links(app)] == ["one", "two"]


def page(answer: Answer) -> dict[str, str]:
    """Return the address and the query of the provider's page in the response."""
    url = str(answer.json["provider_logout_url"])
    return {"url": url.partition("?")[0], **query_of(url)}


def test_response_has_the_page_of_the_provider(
    make_campus_app: MakeCampusApp, campus: Campus, person: MakePerson
) -> None:
    app = make_campus_app(
        CORE__CLIENT_HOST="https://app.example.com", AUTH__POST_LOGOUT_PATH="/signed-out"
    )
    person("ada", into=app)
    answer = sign_in(app, campus, sid="one").delete("/logout?provider=true")
    assert answer.json["message"] == "Logged out"
    found = page(answer)
    claims = jwt.decode(found.pop("id_token_hint"), options={"verify_signature": False})
    assert (claims["sub"], claims["sid"]) == (ADA["sub"], "one")
    assert found == {
        "url": f"{campus.url}/end",
        "lang": "en",
        "client_id": CLIENT_ID,
        "post_logout_redirect_uri": "https://app.example.com/signed-out",
    }


def test_without_the_parameter_sign_out_is_unchanged(
    campus_app: Flask, campus: Campus, ada: Person
) -> None:
    for query in ("", "?provider=false"):
        api = sign_in(campus_app, campus)
        assert api.delete(f"/logout{query}").json == {"message": "Logged out"}
        api.get("/account", 401)
    api = sign_in(campus_app, campus)
    assert api.delete("/logout?provider=yes", 422).faults == ["query:provider"]
    api.get("/account")


def test_application_without_providers_returns_null(app: Flask, person: MakePerson) -> None:
    answer = person("ada", into=app).api().delete("/logout?provider=true")
    assert answer.json == {"message": "Logged out", "provider_logout_url": None}


def test_password_sign_in_has_no_page(campus_app: Flask, campus: Campus, ada: Person) -> None:
    sign_in(campus_app, campus)
    answer = Api(campus_app, token=ada.token()).delete("/logout?provider=true")
    assert answer.json == {"message": "Logged out", "provider_logout_url": None}


def test_cookie_session_returns_the_page(
    make_campus_app: MakeCampusApp, campus: Campus, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_campus_app(
        AUTH__COOKIE_SESSIONS="on", AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]'
    )
    phone = enrolled(person("ada", into=app), clock).phone
    guest = Guest(app, "campus")
    guest.api = CookieBrowser(app)
    required = guest.sign_in(campus, 403, **ADA, sid="one").json
    factor = {"mfa_token": required["mfa_token"], "otp": phone.next_code()}
    guest.api.post("/session/mfa", json=factor)
    assert [link.sid for link in links(app)] == ["one"]
    answer = guest.api.delete("/session?provider=true")
    assert (answer.json["message"], page(answer)["url"]) == ("Signed out", f"{campus.url}/end")
    guest.api.get("/session", 401)
    # Without a session there is nothing to sign out of.
    for query, rest in (("", {}), ("?provider=true", {"provider_logout_url": None})):
        answer = guest.api.delete(f"/session{query}")
        assert answer.json == {"message": "Signed out", **rest}


def test_without_sessions_it_is_the_provider_that_was_used_last(
    make_providers_app: MakeProvidersApp,
    campus: Campus,
    github: GitHub,
    person: MakePerson,
    clock: SteppingClock,
) -> None:
    app = make_providers_app(campus=campus.settings, github=client_of("github"))
    person("ada", into=app)
    emails = [{"email": ADA["email"], "primary": True, "verified": True}]
    by_github = Guest(app, "github").sign_in(github, id=1, login="ada", emails=emails)
    clock.step(seconds=1)
    by_campus = sign_in(app, campus)
    found = page(by_campus.delete("/logout?provider=true"))
    assert found == {"url": f"{campus.url}/end", "lang": "en", "client_id": CLIENT_ID}
    clock.step(seconds=1)
    # GitHub has no such page.
    by_github = Guest(app, "github").sign_in(github, id=1, login="ada", emails=emails)
    api = Api(app, token=by_github.json["access_token"])
    assert api.delete("/logout?provider=true").json["provider_logout_url"] is None


@for_each(
    "document", [{"end_session_endpoint": None}, {"end_session_endpoint": "javascript:x"}, {}]
)
def test_sign_out_does_not_depend_on_the_provider(
    campus_app: Flask,
    campus: Campus,
    ada: Person,
    monkeypatch: pytest.MonkeyPatch,
    document: dict[str, Any],
) -> None:
    # Each step fetches the document.
    monkeypatch.setattr(discovery, "KEEP_SECONDS", 0)
    api = sign_in(campus_app, campus)
    shown = campus.document("") | document if document else {"error": "away"}
    with monkeypatch.context() as patch:
        patch.setattr(campus, "document", lambda path: shown)
        answer = api.delete("/logout?provider=true")
    assert answer.json["provider_logout_url"] is None
    api.get("/account", 401)
    assert not links(campus_app)


END = [
    lambda api, ada: api.delete("/logout"),
    lambda api, ada: api.delete("/sessions"),
    lambda api, ada: ada.change(password="another long password"),
    lambda api, ada: run(ada.app, "accounts", "sign-out", ada.email),
    lambda api, ada: run(ada.app, "accounts", "sign-out", "--all", "--yes"),
    lambda api, ada: run(ada.app, "accounts", "unlink", ada.email),
    lambda api, ada: ada.change(status="suspended"),
]


@for_each("end", END)
def test_link_is_deleted_when_its_session_ends(
    campus_app: Flask, campus: Campus, ada: Person, end: Callable[[Api, Person], object]
) -> None:
    api = sign_in(campus_app, campus)
    assert len(links(campus_app)) == 1
    end(api, ada)
    assert not links(campus_app)


def test_link_of_another_session_stays(campus_app: Flask, campus: Campus, ada: Person) -> None:
    first, second = sign_in(campus_app, campus, sid="one"), sign_in(campus_app, campus, sid="two")
    first.delete("/sessions?others=true")
    assert [link.sid for link in links(campus_app)] == ["one"]
    second.get("/account", 401)
    first.get("/account")


def test_link_of_an_expired_session_is_pruned(
    campus_app: Flask, campus: Campus, ada: Person, clock: SteppingClock
) -> None:
    sign_in(campus_app, campus)
    assert prune(campus_app, "frontdesk", "prune")["provider_sessions"] == 0
    clock.step(minutes=31)
    sign_in(campus_app, campus, sid="new")
    assert prune(campus_app, "frontdesk", "prune")["provider_sessions"] == 1
    assert [link.sid for link in links(campus_app)] == ["new"]


def test_sign_out_at_a_real_provider(
    make_idp_app: Callable[..., Flask], proxy: Proxy, person: MakePerson
) -> None:
    host, _, path = POST_LOGOUT_URI.rpartition("/")
    app = make_idp_app(
        AUTH__SESSIONS="on", CORE__CLIENT_HOST=host, AUTH__POST_LOGOUT_PATH=f"/{path}"
    )
    person("ada", into=app)
    browser = Browser()
    Visitor(Api(app), browser).sign_in()
    forms = browser.forms
    api = Api(app, token=Visitor(Api(app), browser).sign_in().json["access_token"])
    # The provider knows the browser, and does not ask.
    assert browser.forms == forms
    url = str(api.delete("/logout?provider=true").json["provider_logout_url"])
    assert url.startswith(f"{proxy.url}/")
    assert browser.sign_out(url) == POST_LOGOUT_URI
    Visitor(Api(app), browser).sign_in()
    assert browser.forms > forms


def test_sign_out_at_another_real_provider(
    make_providers_app: MakeProvidersApp, glewlwyd: Glewlwyd, person: MakePerson
) -> None:
    client = {"client_id": "by-post", "client_secret": CLIENT_SECRET}
    campus = {"kind": "oidc", "metadata_url": glewlwyd.metadata_url, **client}
    app = make_providers_app(campus=campus, AUTH__SESSIONS="on")
    person("ada", into=app)
    guest, browser = Guest(app, "campus"), GlewlwydBrowser(glewlwyd)
    answer = guest.finish(browser.sign_in(guest.begin(), "ada", REDIRECT_URI))
    [sid] = [link.sid for link in links(app)]
    api = Api(app, token=answer.json["access_token"])
    page = api.delete("/logout?provider=true").json["provider_logout_url"]
    # The provider recognizes the session by the ID token.
    assert browser.session.session_of(page) == sid
