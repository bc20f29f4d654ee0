"""What a request with a cookie must say of the page that sends it, over HTTP."""

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
from ..core.test_matrix import cells, make_olga, rows
from ..rigs.cookie_browsers import NAME, CookieBrowser
from ..rigs.hosts import HostSettings, plain_app

DESK = "https://desk.example.com"
PASSES = {
    "same origin": {"Sec-Fetch-Site": "same-origin"},
    "by its user": {"Sec-Fetch-Site": "none"},
    "own origin": {"Origin": DESK},
    "own origin, in other letters": {"Origin": "https://DESK.example.com"},
    "the client's": {"Origin": "https://app.example.com", "Sec-Fetch-Site": "same-site"},
    "a listed one": {"Origin": "https://admin.example.com", "Sec-Fetch-Site": "same-site"},
}
PUBLIC = "https://public.example.com"
REFUSED = {
    "nothing at all": {},
    "another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    "a neighbour": {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.com"},
    "a neighbour without origin": {"Sec-Fetch-Site": "same-site"},
    "another port": {"Sec-Fetch-Site": "same-site", "Origin": f"{DESK}:8443"},
    "the same without tls": {"Origin": "http://desk.example.com"},
    "another site, old browser": {"Origin": "https://evil.example"},
    "no origin": {"Origin": "null"},
    "no origin, no site": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "an empty one": {"Origin": "", "Sec-Fetch-Site": ""},
    "ours as its beginning": {"Origin": f"{DESK}.evil.example"},
    "ours as its end": {"Origin": "https://evil-desk.example.com"},
    "ours with a path": {"Origin": f"{DESK}/"},
    "two origins": {"Origin": f"{DESK} https://evil.example"},
    "two sites": {"Sec-Fetch-Site": "same-origin, cross-site"},
    "other letters": {"Sec-Fetch-Site": "Same-Origin"},
    "a referrer alone": {"Referer": f"{DESK}/account"},
    "a forwarded host": {"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example"},
    "long": {"Origin": "https://" + "a" * 5000},
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__COOKIE_SESSIONS="on",
        CORE__CLIENT_HOST="https://app.example.com",
        CORE__CORS_ORIGINS='["https://admin.example.com"]',
    )


class AtTheDesk(CookieBrowser):
    def ask(self, method: str, path: str, status: int, says: Mapping[str, str]) -> Answer:
        """With no more headers than these."""
        return Api.send(self, method, path, status, headers=says, json={}, base_url=DESK)

    @property
    def cookie(self) -> str | None:
        found = self.client.get_cookie(NAME, "desk.example.com", "/")
        return None if found is None else found.value


@pytest.fixture
def browser(app: Flask, ada: Person) -> AtTheDesk:
    browser = AtTheDesk(app)
    body = {"email": ada.email, "password": ada.password}
    browser.post("/session", json=body, base_url=DESK)
    return browser


@pytest.mark.parametrize("says", PASSES.values(), ids=PASSES)
def test_a_page_of_ours_may_change_things(browser: AtTheDesk, says: Mapping[str, str]) -> None:
    browser.ask("PATCH", "/account", 200, says)


@pytest.mark.parametrize("says", REFUSED.values(), ids=REFUSED)
def test_no_other_page_may(app: Flask, browser: AtTheDesk, says: Mapping[str, str]) -> None:
    refused = browser.ask("PATCH", "/account", 403, says)
    assert refused.json["code"] == "cross_site"
    assert refused.detail == "This request comes from another site"
    browser.ask("DELETE", "/logout", 403, says)
    browser.ask("POST", "/session", 403, says)
    browser.ask("DELETE", "/session", 403, says)
    # Nobody was signed out; and what only reads is CORS's business.
    browser.ask("GET", "/account", 200, says)
    browser.ask("OPTIONS", "/account", 200, says)


@pytest.mark.parametrize(
    ("origin", "status"), [(PUBLIC, 200), ("https://PUBLIC.example.com", 200), (DESK, 403)]
)
def test_public_url_and_not_the_host_header_is_our_own_origin(
    make_app: MakeApp, origin: str, status: int
) -> None:
    """A client can write any Host: its own site's too."""
    app = make_app(AUTH__COOKIE_SESSIONS="on", CORE__PUBLIC_URL=PUBLIC)
    browser, somebody = AtTheDesk(app), make_person(app, "ada")
    body = {"email": somebody.email, "password": somebody.password}
    browser.post("/session", json=body, base_url=DESK)
    browser.ask("PATCH", "/account", status, {"Origin": origin})


def test_who_has_no_good_cookie_is_told_that_first(app: Flask, browser: AtTheDesk) -> None:
    stranger = AtTheDesk(app)
    elsewhere = REFUSED["another site"]
    stranger.ask("PATCH", "/account", 401, elsewhere)
    stranger.hold("A" * 64)
    stranger.ask("PATCH", "/account", 401, elsewhere)


def test_the_scheme_is_that_of_a_secure_cookie_whatever_a_proxy_keeps_to_itself(
    browser: AtTheDesk, app: Flask
) -> None:
    """TLS ends in front: the request that comes in says http, and the page was https."""
    headers = {"Cookie": f"{NAME}={browser.cookie}"}
    client = app.test_client(use_cookies=False)
    for origin, status in ((DESK, 200), ("http://desk.example.com", 403)):
        answer = client.patch(
            "/api/v1/account",
            json={},
            headers={**headers, "Origin": origin},
            base_url="http://desk.example.com",
        )
        assert answer.status_code == status


def test_every_route_that_changes_something_refuses_it(app: Flask, person: MakePerson) -> None:
    """Root's own cookie, with a valid body: not one row is written, but for what was refused."""
    olga = make_olga(person)
    browser = CookieBrowser(app)
    browser.sign_in(olga)
    cookie = {"Cookie": f"{NAME}={browser.cookie}"}
    elsewhere = {**cookie, **REFUSED["a neighbour"]}
    before, asked = rows(app), 0
    for cell in cells(app):
        if cell.method == "GET":
            continue
        body = cell.operation.examples.get("json")
        client = app.test_client(use_cookies=False)
        sent = {} if body is None else {"json": body}
        answer = client.open(cell.path, method=cell.method, headers=elsewhere, **sent)
        assert (answer.status_code, answer.get_json()["code"]) == (403, "cross_site"), cell.path
        asked += 1
    assert asked > 30
    assert rows(app) == before


def test_a_refusal_is_recorded_with_the_account_and_told_with_the_origin(
    app: Flask,
    browser: AtTheDesk,
    ada: Person,
    person: MakePerson,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "frontdesk.security"):
        browser.ask("PATCH", "/account", 403, REFUSED["another site"])
        browser.ask("POST", "/session", 403, REFUSED["another site"])
    told = [record.__dict__["fields"] for record in caplog.records]
    assert [each["event"] for each in told] == ["entry", "sign_in"]
    assert {each["reason"] for each in told} == {"cross_site"}
    assert {each["origin"] for each in told} == {"https://evil.example"}
    assert told[0]["account_id"] == ada.id
    events = person("root", role="root").api().get("/admin/events?type=access.refused").json
    (recorded,) = [each for each in events if each["data"].get("reason") == "cross_site"]
    assert recorded["account_id"] == ada.id
    assert recorded["data"]["method"] == "PATCH"


class HostWithCookies(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="on")


@pytest.fixture
def host() -> Flask:
    """A plain application whose own views take our cookie, and Flask-WTF over all of it."""
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
        return f"seen by {current_account.email if current_account else 'nobody'}"

    with host.app_context():
        db.create_all()
    return host


@pytest.fixture
def at_the_host(host: Flask) -> CookieBrowser:
    browser = CookieBrowser(host, "/desk")
    browser.sign_in(make_person(host, "ada"))
    return browser


def test_our_routes_in_a_host_ask_for_the_page_and_for_no_form_token(
    at_the_host: CookieBrowser,
) -> None:
    at_the_host.patch("/account", json={})
    answer = at_the_host.patch("/account", 403, json={}, headers=REFUSED["another site"])
    assert answer.json["code"] == "cross_site"


def test_a_hosts_own_view_is_protected_as_ours_are(host: Flask, at_the_host: CookieBrowser) -> None:
    client, at = at_the_host.client, {"base_url": "https://localhost"}
    own, elsewhere = {"Sec-Fetch-Site": "same-origin"}, REFUSED["another site"]
    assert client.post("/buy-by-fetch", headers=own, **at).text == "bought by ada@example.com"
    refused = client.post("/buy-by-fetch", headers=elsewhere, **at)
    assert (refused.status_code, refused.get_json()["code"]) == (403, "cross_site")
    assert client.post("/buy-by-fetch", **at).status_code == 403
    assert client.get("/look", headers=elsewhere, **at).text == "seen by ada@example.com"
    # Not as nobody either: the visitor's browser has said who it is.
    assert client.post("/look", headers=elsewhere, **at).status_code == 403


def test_flask_wtf_asks_for_its_own_token_beside_it(
    host: Flask, at_the_host: CookieBrowser
) -> None:
    client, at = at_the_host.client, {"base_url": "https://localhost"}
    own = {"Sec-Fetch-Site": "same-origin", "Referer": "https://localhost/form"}
    assert client.post("/buy", headers=own, **at).status_code == 400
    form = {"csrf_token": client.get("/form", **at).text}
    assert client.post("/buy", headers=own, data=form, **at).text == "bought by ada@example.com"
    elsewhere = {**REFUSED["a neighbour"], "Referer": "https://localhost/form"}
    assert client.post("/buy", headers=elsewhere, data=form, **at).status_code == 403
