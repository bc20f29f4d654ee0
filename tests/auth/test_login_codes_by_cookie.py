"""Sign-in by emailed code in a browser with cookie sessions."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, Person
from ..rigs.cookie_browsers import CookieBrowser, set_cookie
from .test_login_codes import ask, mailed_code


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__LOGIN_BY_CODE="on", AUTH__COOKIE_SESSIONS="on")


@pytest.fixture
def browser(app: Flask) -> CookieBrowser:
    return CookieBrowser(app)


def test_code_sets_the_cookie_and_returns_no_token(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    answer = browser.post("/session/code", json=proof)
    assert answer.json.keys() == {"account", "expires"}
    assert "HttpOnly" in set_cookie(answer)
    assert browser.get("/account").json["id"] == ada.id
    browser.post("/session/code", 400, json=proof)


def test_cross_site_request_is_rejected(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    refused = browser.post("/session/code", 403, json=proof, headers=elsewhere)
    assert refused.json["code"] == "cross_site"
    browser.post("/session/code", json=proof)


def test_code_without_the_browsers_login_id_is_rejected(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    ask(browser)
    body = {"login_id": "x" * 32, "code": mailed_code(mails)}
    assert browser.post("/session/code", 400, json=body).json["code"] == "invalid_token"
    assert browser.cookie is None


def test_route_does_not_exist_without_cookie_sessions(make_app: MakeApp) -> None:
    Api(make_app(AUTH__LOGIN_BY_CODE="on")).post("/session/code", 404, json={})


def test_reauthentication_replaces_the_cookie(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    browser.sign_in(ada)
    before = browser.cookie
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    answer = browser.post("/reauthenticate", json=proof)
    assert "access_token" not in answer.json
    assert browser.cookie not in (None, before)
    browser.get("/account")
    old_browser = CookieBrowser(browser.app)
    old_browser.use_cookie(str(before))
    old_browser.get("/account", 401)
