"""Signing in by a mailed code where a cookie says who is in: the same code, another door."""

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


def test_the_code_sets_the_cookie_and_tells_no_token(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    answer = browser.post("/session/code", json=proof)
    assert answer.json.keys() == {"account", "expires"}
    assert "HttpOnly" in set_cookie(answer)
    assert browser.get("/account").json["id"] == ada.id
    browser.post("/session/code", 400, json=proof)


def test_another_sites_page_signs_nobody_in(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    refused = browser.post("/session/code", 403, json=proof, headers=elsewhere)
    assert refused.json["code"] == "cross_site"
    browser.post("/session/code", json=proof)


def test_by_a_code_without_the_asking_browsers_id_nobody_comes_in(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    ask(browser)
    body = {"login_id": "x" * 32, "code": mailed_code(mails)}
    assert browser.post("/session/code", 400, json=body).json["code"] == "invalid_token"
    assert browser.cookie is None


def test_without_cookies_there_is_no_such_door(make_app: MakeApp) -> None:
    Api(make_app(AUTH__LOGIN_BY_CODE="on")).post("/session/code", 404, json={})


def test_who_shows_once_more_who_they_are_has_another_cookie(
    browser: CookieBrowser, ada: Person, mails: MailOutbox
) -> None:
    browser.sign_in(ada)
    before = browser.cookie
    proof = {"login_id": ask(browser)["login_id"], "code": mailed_code(mails)}
    answer = browser.post("/reauthenticate", json=proof)
    assert "access_token" not in answer.json
    assert browser.cookie not in (None, before)
    browser.get("/account")
    old = CookieBrowser(browser.app)
    old.hold(str(before))
    old.get("/account", 401)
