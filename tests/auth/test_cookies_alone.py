"""Pages with cookie sessions, in an application with stateless access tokens."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import inspect

from app import Frontdesk
from app.accounts.account import Account
from app.auth.account_routes import change_password, get_account
from app.auth.decorators import account_required
from app.auth.mfa.routes import finish_cookie_session
from app.auth.routes import logout
from app.auth.sessions.models import AccountSession
from app.auth.sessions.routes import (
    close_cookie_session,
    get_cookie_session,
    list_sessions,
    open_cookie_session,
)
from app.auth.step_up.routes import reauthenticate
from app.core.config.environment import SettingsError
from app.core.context import current_frontdesk
from app.core.errors import SetupError
from app.core.web.blueprint import Blueprint
from app.core.web.operation import hidden
from app.extension.application_sign_in import sign_in
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..cli.test_prune import run as prune
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import CookieBrowser, set_cookie, stored_sessions
from ..rigs.hosts import plain_app
from .factors import claims, enrolled
from .test_recovery import NEW

ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:3000"}


def pages() -> Blueprint:
    """Return a blueprint of pages that uses the API's views."""
    blueprint = Blueprint("desk", __name__, has_pages=True)
    blueprint.get("/session")(get_cookie_session)
    blueprint.post("/session")(open_cookie_session)
    blueprint.delete("/session")(close_cookie_session)
    blueprint.post("/session/mfa")(finish_cookie_session)
    blueprint.get("/sessions")(list_sessions)
    blueprint.get("/account")(get_account)
    blueprint.put("/account/password")(change_password)
    blueprint.delete("/logout")(logout)
    blueprint.post("/reauthenticate")(reauthenticate)

    @blueprint.post("/touch")
    @hidden
    @account_required
    def touch() -> str:
        return "touched"

    return blueprint


def with_pages(app: Flask) -> Flask:
    app.register_blueprint(pages(), url_prefix="/desk")
    return app


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return with_pages(make_app())


def make_browser(app: Flask) -> CookieBrowser:
    return CookieBrowser(app, "/desk")


@pytest.fixture
def browser(app: Flask, ada: Person) -> CookieBrowser:
    browser = make_browser(app)
    browser.sign_in(ada)
    return browser


def test_cookie_authenticates_on_pages_and_not_on_the_api(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    assert browser.get("/account").json["email"] == ada.email
    assert browser.get("/session").json.keys() == {"account", "expires"}
    api = CookieBrowser(app)
    api.use_cookie(browser.cookie or "")
    assert api.get("/account", 401).json["code"] == "invalid_credentials"
    api.patch("/account", 401, json={})


def test_tokens_have_no_session(app: Flask, browser: CookieBrowser, ada: Person) -> None:
    api = ada.api()
    assert claims(api).keys().isdisjoint({"sid", "amr", "auth_time"})
    assert [each.kind for each in stored_sessions(app)] == ["cookie"]
    api.delete("/logout")
    api.get("/account", 401)
    ada.api()
    api.get("/account")


def test_api_and_its_document_do_not_change(make_app: MakeApp) -> None:
    def describe_api(app: Flask) -> tuple[bytes, list[str]]:
        rules = sorted(f"{each.methods} {each.rule}" for each in app.url_map.iter_rules())
        return app.test_client().get("/api/v1/openapi.json").data, [
            rule for rule in rules if "/api/v1" in rule
        ]

    more = {"AUTH__MFA": "optional", "AUTH__PASSKEYS": "on", "AUTH__LOGIN_BY_CODE": "on"}
    assert describe_api(make_app()) == describe_api(make_app(CORE__CONSOLE_ENABLED="false"))
    assert describe_api(make_app(**more)) == describe_api(
        make_app(CORE__CONSOLE_ENABLED="false", **more)
    )


def test_logout_by_token_ends_cookie_sessions(
    app: Flask, browser: CookieBrowser, ada: Person, person: MakePerson
) -> None:
    other, token = make_browser(app), ada.api()
    other.sign_in(person("grace"))
    token.delete("/logout")
    ada.api()
    token.get("/account")
    browser.get("/account", 401)
    other.get("/account")
    assert [each.end_reason for each in stored_sessions(app)] == ["logout", None]


def test_logout_by_cookie_deletes_the_cookie(browser: CookieBrowser, ada: Person) -> None:
    old_cookie, token = browser.cookie or "", ada.api()
    browser.delete("/logout")
    assert browser.cookie is None
    token.get("/account", 401)
    ada.api()
    browser.use_cookie(old_cookie)
    browser.get("/account", 401)


def test_sign_out_ends_only_this_browsers_session(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    other, token = make_browser(app), ada.api()
    other.sign_in(ada)
    browser.delete("/session")
    assert browser.cookie is None
    other.get("/account")
    token.get("/account")
    assert [each["current"] for each in other.get("/sessions").json] == [True]


def test_password_change_keeps_only_this_browser_signed_in(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    other, token, previous = make_browser(app), ada.api(), browser.cookie
    other.sign_in(ada)
    body = {"current_password": PASSWORD, "new_password": NEW}
    assert "access_token" not in browser.put("/account/password", json=body).json
    assert browser.cookie != previous
    browser.get("/account")
    other.get("/account", 401)
    token.get("/account", 401)


def test_password_change_by_token_returns_a_token(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    body, token = {"current_password": PASSWORD, "new_password": NEW}, ada.api()
    answer = token.put("/account/password", json=body)
    assert claims(token.as_token(answer.json["access_token"])).keys().isdisjoint({"sid", "amr"})
    assert "Set-Cookie" not in answer.headers
    browser.get("/account", 401)


def test_cross_site_requests_are_rejected(app: Flask, browser: CookieBrowser, ada: Person) -> None:
    """Origins that the API allows are not allowed on pages."""
    body = {"email": ada.email, "password": ada.password}
    refused = make_browser(app).post("/session", 403, json=body, headers=ELSEWHERE)
    assert refused.json["code"] == "cross_site"
    assert browser.post("/touch", 403, headers=ELSEWHERE).json["code"] == "cross_site"
    assert browser.post("/touch").response.text == "touched"


def test_reauthentication_renews_the_cookie_and_the_token(
    app: Flask, browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    token, previous = ada.api(), browser.cookie
    clock.step(minutes=20)
    answer = browser.post("/reauthenticate", json={"password": PASSWORD})
    assert answer.json.keys().isdisjoint({"access_token"})
    assert browser.cookie != previous
    (stored,) = stored_sessions(app)
    assert stored.authenticated_at > stored.created_at
    renewed = token.post("/reauthenticate", json={"password": PASSWORD})
    assert claims(token.as_token(renewed.json["access_token"])).keys().isdisjoint({"sid"})
    assert "Set-Cookie" not in renewed.headers
    assert len(stored_sessions(app)) == 1


def test_sign_in_with_mfa(make_app: MakeApp, person: MakePerson, clock: SteppingClock) -> None:
    app = with_pages(make_app(AUTH__MFA="optional"))
    ada, browser = person("ada", into=app), make_browser(app)
    holder = enrolled(ada, clock)
    refused = browser.sign_in(ada, 403)
    assert browser.cookie is None
    step = {"mfa_token": refused.json["mfa_token"], "otp": holder.phone.next_code()}
    assert browser.post("/session/mfa", json=step).json.keys() == {"account", "expires"}
    assert browser.get("/account").json["email"] == ada.email
    (stored,) = stored_sessions(app)
    assert (stored.amr, stored.factor_at) == ("pwd otp mfa", stored.created_at)
    assert claims(holder.api).keys().isdisjoint({"sid", "auth_time"})


def test_sessions_of_tokens_and_cookies_together(make_app: MakeApp, person: MakePerson) -> None:
    app = with_pages(make_app(AUTH__SESSIONS="on"))
    ada, browser = person("ada", into=app), make_browser(app)
    browser.sign_in(ada)
    token = ada.api()
    assert "sid" in claims(token)
    assert {each["kind"] for each in token.get("/sessions").json} == {"cookie", "token"}
    CookieBrowser(app).get("/session", 404)
    token.delete("/logout")
    browser.get("/account", 401)


def test_expired_sessions_are_pruned(
    app: Flask, browser: CookieBrowser, clock: SteppingClock
) -> None:
    clock.step(days=61)
    assert prune(app, "frontdesk", "prune")["sessions"] == 1
    assert stored_sessions(app) == []


def test_disabled_console_has_no_cookie_sessions(make_app: MakeApp, person: MakePerson) -> None:
    app = with_pages(make_app(CORE__CONSOLE_ENABLED="false"))
    ada = person("ada", into=app)
    body = {"email": ada.email, "password": ada.password}
    app.config["PROPAGATE_EXCEPTIONS"] = False
    assert make_browser(app).post("/session", 500, json=body).json["code"] == "internal_error"
    assert stored_sessions(app) == []


def test_application_cannot_sign_in_by_cookie(app: Flask, ada: Person) -> None:
    with app.test_request_context(), pytest.raises(SetupError, match="COOKIE_SESSIONS to `on`"):
        sign_in(ada, by=("host",), by_cookie=True)


def test_cookie_domain_must_match_the_public_url(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="is not under it"):
        make_app(AUTH__COOKIE_DOMAIN="example.com", CORE__PUBLIC_URL="https://desk.example.org")


def test_application_enables_it_and_gets_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    app, db = plain_app(SECRET_KEY="a secret for this host alone, which is long enough")
    app.config["FRONTDESK"] = {"AUTH": {"COOKIE_SESSIONS": "alone", "BCRYPT_ROUNDS": 4}}
    frontdesk: Frontdesk[Account] = Frontdesk()
    frontdesk.init_app(app, db, account_model=Account)
    with_pages(app)
    with app.app_context():
        db.create_all()
        assert inspect(db.engine).has_table(AccountSession.__tablename__)
        frontdesk.accounts.create("ada@example.com", password=PASSWORD)
    browser = make_browser(app)
    body = {"email": "ada@example.com", "password": PASSWORD}
    assert set_cookie(browser.post("/session", json=body)).startswith("__Host-fd=")
    assert browser.get("/account").json["email"] == "ada@example.com"


def test_create_all_creates_the_table_in_the_service_too(app: Flask) -> None:
    with app.app_context():
        assert AccountSession.__tablename__ in current_frontdesk.metadata.tables


def test_invalid_cookie_is_rejected_only_on_pages(app: Flask) -> None:
    browser = make_browser(app)
    browser.use_cookie("A" * 64)
    browser.get("/account", 401)
    api = Api(app)
    api.get("/health", headers={"Cookie": f"__Host-fd={'A' * 64}"})
