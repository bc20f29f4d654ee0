"""Requests with a cookie: which `Origin` and `Sec-Fetch-Site` headers are accepted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from flask import Flask
from flask_wtf import CSRFProtect
from flask_wtf.csrf import generate_csrf

from app import Frontdesk, account_optional, account_required, current_account
from app.accounts.account import Account
from app.auth.settings import AuthSettings
from app.blueprints import auth, sessions
from app.testing.client import Answer, Api
from app.testing.people import make_person

from ..conftest import MakeApp, MakePerson, Person
from ..core.test_access_matrix import cases, make_olga, rows
from ..rigs.cookie_browsers import NAME, CookieBrowser
from ..rigs.hosts import HostSettings, plain_app

SERVICE_ORIGIN = "https://desk.example.com"
PASSES = {
    "same origin": {"Sec-Fetch-Site": "same-origin"},
    "by its user": {"Sec-Fetch-Site": "none"},
    "own origin": {"Origin": SERVICE_ORIGIN},
    "own origin, in upper case": {"Origin": "https://DESK.example.com"},
    "the client's": {"Origin": "https://app.example.com", "Sec-Fetch-Site": "same-site"},
    "an allowed origin": {"Origin": "https://admin.example.com", "Sec-Fetch-Site": "same-site"},
}
PUBLIC = "https://public.example.com"
REJECTED = {
    "nothing at all": {},
    "another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    "a sibling site": {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.com"},
    "a sibling site without origin": {"Sec-Fetch-Site": "same-site"},
    "another port": {"Sec-Fetch-Site": "same-site", "Origin": f"{SERVICE_ORIGIN}:8443"},
    "own host without tls": {"Origin": "http://desk.example.com"},
    "another site, old browser": {"Origin": "https://evil.example"},
    "no origin": {"Origin": "null"},
    "no origin, no site": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "empty headers": {"Origin": "", "Sec-Fetch-Site": ""},
    "own origin as a prefix": {"Origin": f"{SERVICE_ORIGIN}.evil.example"},
    "own host as a suffix": {"Origin": "https://evil-desk.example.com"},
    "own origin with a path": {"Origin": f"{SERVICE_ORIGIN}/"},
    "two origins": {"Origin": f"{SERVICE_ORIGIN} https://evil.example"},
    "two sites": {"Sec-Fetch-Site": "same-origin, cross-site"},
    "upper case": {"Sec-Fetch-Site": "Same-Origin"},
    "a referrer alone": {"Referer": f"{SERVICE_ORIGIN}/account"},
    "a forwarded host": {"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example"},
    "long": {"Origin": "https://" + "a" * 5000},
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__ACCOUNT_DELETION="on",
        AUTH__COOKIE_SESSIONS="on",
        CORE__CLIENT_HOST="https://app.example.com",
        CORE__CORS_ORIGINS='["https://admin.example.com"]',
    )


class ServiceBrowser(CookieBrowser):
    def ask(self, method: str, path: str, status: int, headers: Mapping[str, str]) -> Answer:
        """Send a request with only these headers."""
        return Api.send(
            self, method, path, status, headers=headers, json={}, base_url=SERVICE_ORIGIN
        )

    @property
    def cookie(self) -> str | None:
        found = self.client.get_cookie(NAME, "desk.example.com", "/")
        return None if found is None else found.value


@pytest.fixture
def browser(app: Flask, ada: Person) -> ServiceBrowser:
    browser = ServiceBrowser(app)
    body = {"email": ada.email, "password": ada.password}
    browser.post("/session", json=body, base_url=SERVICE_ORIGIN)
    return browser


@pytest.mark.parametrize("headers", PASSES.values(), ids=PASSES)
def test_own_and_allowed_origins_can_change_data(
    browser: ServiceBrowser, headers: Mapping[str, str]
) -> None:
    browser.ask("PATCH", "/account", 200, headers)


@pytest.mark.parametrize("headers", REJECTED.values(), ids=REJECTED)
def test_other_origins_are_rejected(
    app: Flask, browser: ServiceBrowser, headers: Mapping[str, str]
) -> None:
    refused = browser.ask("PATCH", "/account", 403, headers)
    assert refused.json["code"] == "cross_site"
    assert refused.detail == "This request comes from another site"
    browser.ask("DELETE", "/logout", 403, headers)
    browser.ask("POST", "/session", 403, headers)
    browser.ask("DELETE", "/session", 403, headers)
    # The session survives; reads are not checked, because CORS protects them.
    browser.ask("GET", "/account", 200, headers)
    browser.ask("OPTIONS", "/account", 200, headers)


@pytest.mark.parametrize(
    ("origin", "status"),
    [(PUBLIC, 200), ("https://PUBLIC.example.com", 200), (SERVICE_ORIGIN, 403)],
)
def test_own_origin_is_the_public_url_and_not_the_host_header(
    make_app: MakeApp, origin: str, status: int
) -> None:
    """A client can write any Host header, also its own site's."""
    app = make_app(AUTH__COOKIE_SESSIONS="on", CORE__PUBLIC_URL=PUBLIC)
    browser, person_signed_in = ServiceBrowser(app), make_person(app, "ada")
    body = {"email": person_signed_in.email, "password": person_signed_in.password}
    browser.post("/session", json=body, base_url=SERVICE_ORIGIN)
    browser.ask("PATCH", "/account", status, {"Origin": origin})


def test_invalid_cookie_is_rejected_before_the_origin_is_checked(
    app: Flask, browser: ServiceBrowser
) -> None:
    other_browser = ServiceBrowser(app)
    elsewhere = REJECTED["another site"]
    other_browser.ask("PATCH", "/account", 401, elsewhere)
    other_browser.use_cookie("A" * 64)
    other_browser.ask("PATCH", "/account", 401, elsewhere)


def test_own_origin_uses_https_behind_a_proxy(browser: ServiceBrowser, app: Flask) -> None:
    """A proxy ends TLS: the service receives http, although the page uses https."""
    headers = {"Cookie": f"{NAME}={browser.cookie}"}
    client = app.test_client(use_cookies=False)
    for origin, status in ((SERVICE_ORIGIN, 200), ("http://desk.example.com", 403)):
        answer = client.patch(
            "/api/v1/account",
            json={},
            headers={**headers, "Origin": origin},
            base_url="http://desk.example.com",
        )
        assert answer.status_code == status


def test_every_route_that_changes_data_rejects_other_origins(
    app: Flask, person: MakePerson
) -> None:
    """Send root's cookie with a valid body; only audit log entries of rejections are written."""
    olga = make_olga(person)
    browser = CookieBrowser(app)
    browser.sign_in(olga)
    cookie = {"Cookie": f"{NAME}={browser.cookie}"}
    elsewhere = {**cookie, **REJECTED["a sibling site"]}
    before, requests = rows(app), 0
    for case in cases(app):
        if case.method == "GET":
            continue
        body = case.operation.examples.get("json")
        client = app.test_client(use_cookies=False)
        sent = {} if body is None else {"json": body}
        answer = client.open(case.path, method=case.method, headers=elsewhere, **sent)
        assert (answer.status_code, answer.get_json()["code"]) == (403, "cross_site"), case.path
        requests += 1
    assert requests > 30
    assert rows(app) == before


def test_rejection_is_logged_with_the_account_and_the_origin(
    app: Flask,
    browser: ServiceBrowser,
    ada: Person,
    person: MakePerson,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "frontdesk.security"):
        browser.ask("PATCH", "/account", 403, REJECTED["another site"])
        browser.ask("POST", "/session", 403, REJECTED["another site"])
    entries = [record.__dict__["fields"] for record in caplog.records]
    assert [each["event"] for each in entries] == ["entry", "sign_in"]
    assert {each["reason"] for each in entries} == {"cross_site"}
    assert {each["origin"] for each in entries} == {"https://evil.example"}
    assert entries[0]["account_id"] == ada.id
    events = person("root", role="root").api().get("/admin/events?type=access.refused").json
    (recorded,) = [each for each in events if each["data"].get("reason") == "cross_site"]
    assert recorded["account_id"] == ada.id
    assert recorded["data"]["method"] == "PATCH"


class HostWithCookies(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="on")


@pytest.fixture
def host() -> Flask:
    """Return an application that accepts the session cookie and has Flask-WTF enabled."""
    host, db = plain_app(SECRET_KEY="the key that the host signs its session with")
    Frontdesk().init_app(host, db, settings=HostWithCookies(), account_model=Account)
    protection: Any = CSRFProtect(host)
    host.register_blueprint(auth, url_prefix="/desk")
    host.register_blueprint(sessions, url_prefix="/desk")
    host.add_url_rule("/form", "form", generate_csrf)

    def unprotected(view: Callable[..., str]) -> Callable[..., str]:
        protection.exempt(view)
        return view

    @host.post("/buy")
    @account_required
    def buy() -> str:
        return f"bought by {current_account.email}"

    @host.post("/buy-by-fetch")
    @unprotected
    @account_required
    def buy_by_fetch() -> str:
        return f"bought by {current_account.email}"

    @host.route("/look", methods=["GET", "POST"])
    @unprotected
    @account_optional
    def look() -> str:
        return f"seen by {current_account.email if current_account else 'no account'}"

    with host.app_context():
        db.create_all()
    return host


@pytest.fixture
def app_browser(host: Flask) -> CookieBrowser:
    browser = CookieBrowser(host, "/desk")
    browser.sign_in(make_person(host, "ada"))
    return browser


def test_routes_in_an_application_need_no_form_token(app_browser: CookieBrowser) -> None:
    app_browser.patch("/account", json={})
    answer = app_browser.patch("/account", 403, json={}, headers=REJECTED["another site"])
    assert answer.json["code"] == "cross_site"


def test_applications_own_view_is_protected_too(host: Flask, app_browser: CookieBrowser) -> None:
    client, at = app_browser.client, {"base_url": "https://localhost"}
    own, elsewhere = {"Sec-Fetch-Site": "same-origin"}, REJECTED["another site"]
    assert client.post("/buy-by-fetch", headers=own, **at).text == "bought by ada@example.com"
    refused = client.post("/buy-by-fetch", headers=elsewhere, **at)
    assert (refused.status_code, refused.get_json()["code"]) == (403, "cross_site")
    assert client.post("/buy-by-fetch", **at).status_code == 403
    assert client.get("/look", headers=elsewhere, **at).text == "seen by ada@example.com"
    # The request is not treated as anonymous either: its headers name another site.
    assert client.post("/look", headers=elsewhere, **at).status_code == 403


def test_flask_wtf_also_requires_its_own_token(host: Flask, app_browser: CookieBrowser) -> None:
    client, at = app_browser.client, {"base_url": "https://localhost"}
    own = {"Sec-Fetch-Site": "same-origin", "Referer": "https://localhost/form"}
    assert client.post("/buy", headers=own, **at).status_code == 400
    form = {"csrf_token": client.get("/form", **at).text}
    assert client.post("/buy", headers=own, data=form, **at).text == "bought by ada@example.com"
    elsewhere = {**REJECTED["a sibling site"], "Referer": "https://localhost/form"}
    assert client.post("/buy", headers=elsewhere, data=form, **at).status_code == 403
