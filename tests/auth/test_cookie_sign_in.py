"""Sign-in with a session cookie: the cookie's attributes, and who can sign in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import NAME, CookieBrowser, set_cookie, stored_sessions


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__COOKIE_SESSIONS="on")


@pytest.fixture
def browser(app: Flask) -> CookieBrowser:
    return CookieBrowser(app)


def test_sign_in_returns_the_account_and_sets_an_http_only_cookie(
    browser: CookieBrowser, ada: Person
) -> None:
    answer = browser.sign_in(ada)
    assert answer.json.keys() == {"account", "expires"}
    assert answer.json["account"]["email"] == ada.email
    value, *attributes = set_cookie(answer).split("; ")
    assert re.fullmatch(rf"{NAME}=[A-Za-z0-9_-]{{64}}", value)
    attributes = [each for each in attributes if not each.startswith("Expires=")]
    assert set(attributes) == {"Secure", "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=2592000"}
    assert answer.headers["Cache-Control"] == "no-store"
    assert browser.get("/account").json["email"] == ada.email


def test_session_is_returned_until_sign_out(browser: CookieBrowser, ada: Person) -> None:
    created = browser.sign_in(ada).json
    assert browser.get("/session").json["expires"] == created["expires"]
    assert browser.get("/session").json["account"]["id"] == ada.id
    browser.delete("/session")
    assert browser.get("/session", 401).json["code"] == "invalid_credentials"


def test_cookie_domain_uses_the_secure_prefix(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(
        AUTH__COOKIE_SESSIONS="on",
        AUTH__COOKIE_DOMAIN="example.com",
        AUTH__COOKIE_SAMESITE="Strict",
    )
    ada = person("ada", into=app)
    browser = CookieBrowser(app)
    body = {"email": ada.email, "password": ada.password}
    answer = browser.post("/session", json=body, base_url="https://desk.example.com")
    cookie = set_cookie(answer)
    assert cookie.startswith("__Secure-fd=")
    assert "Domain=example.com" in cookie
    assert "SameSite=Strict" in cookie
    browser.get("/session", base_url="https://other.example.com")
    browser.get("/session", 401, base_url="https://example.org")


def test_development_without_tls_uses_a_plain_cookie(app: Flask, ada: Person) -> None:
    app.debug = True
    browser = CookieBrowser(app)
    body = {"email": ada.email, "password": ada.password}
    cookie = set_cookie(browser.post("/session", json=body, base_url="http://localhost"))
    assert cookie.startswith("fd=")
    assert "Secure" not in cookie
    browser.get("/session", base_url="http://localhost")
    by_origin = {"Sec-Fetch-Site": "", "Origin": "http://localhost"}
    browser.patch("/account", json={}, headers=by_origin, base_url="http://localhost")
    assert set_cookie(browser.sign_in(ada)).startswith(NAME)


def test_wrong_passwords_share_a_limit_with_login(app: Flask, ada: Person) -> None:
    browser, api = CookieBrowser(app), Api(app)
    wrong = {"email": ada.email, "password": "not this one"}
    for _ in range(3):
        assert browser.post("/session", 400, json=wrong).json["code"] == "incorrect_credentials"
    for _ in range(2):
        form = {"username": ada.email, "password": "not this one"}
        api.post("/login", 400, data=form)
    assert "Retry-After" in browser.sign_in(ada, 429).headers
    assert browser.cookie is None


@pytest.mark.parametrize("status", ["inactive", "suspended", "deleting", "pending"])
def test_inactive_account_gets_no_cookie(
    browser: CookieBrowser, person: MakePerson, status: str
) -> None:
    inactive = person("nina", status=status)
    answer = browser.sign_in(inactive, 400)
    assert answer.detail == "Inactive account"
    assert "Set-Cookie" not in answer.headers


def test_invalid_bodies_are_rejected(browser: CookieBrowser) -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"email": "a@example.com"},
        {"email": 1, "password": []},
        {"otp": {}},
    ]
    for body in bodies:
        browser.post("/session", 422, json=body)
    browser.post("/session", 415, data={"email": "ada@example.com", "password": PASSWORD})
    browser.post("/session", 422, json={"email": "a", "password": "b", "otp": "1" * 65})


def test_sign_in_ends_the_browsers_previous_session(
    app: Flask, browser: CookieBrowser, ada: Person, person: MakePerson
) -> None:
    grace = person("grace")
    browser.sign_in(ada)
    previous = browser.cookie or ""
    browser.sign_in(grace)
    assert browser.cookie != previous
    attacker = CookieBrowser(app)
    attacker.use_cookie(previous)
    attacker.get("/account", 401)
    assert browser.get("/account").json["email"] == grace.email
    assert [each.end_reason for each in stored_sessions(app)] == ["replaced", None]


def test_failed_sign_in_ends_no_session(browser: CookieBrowser, ada: Person) -> None:
    browser.sign_in(ada)
    wrong = {"email": ada.email, "password": "not this one"}
    browser.post("/session", 400, json=wrong)
    browser.get("/account")


def test_sign_in_replaces_a_planted_cookie(
    app: Flask, browser: CookieBrowser, ada: Person, person: MakePerson
) -> None:
    """Session fixation: an attacker plants their session cookie in the victim's
    browser."""
    attacker = CookieBrowser(app)
    attacker.sign_in(person("mallory"))
    planted = attacker.cookie or ""
    browser.use_cookie(planted)
    browser.sign_in(ada)
    assert browser.cookie != planted
    attacker.get("/account", 401)


def test_sign_in_with_a_malformed_cookie_succeeds(browser: CookieBrowser, ada: Person) -> None:
    browser.use_cookie("rubbish")
    browser.sign_in(ada)
    browser.get("/account")


@pytest.mark.parametrize("url", ["https://api.example.org", "https://notexample.com"])
def test_cookie_domain_that_browsers_reject_stops_the_start(make_app: MakeApp, url: str) -> None:
    settings = {"AUTH__COOKIE_SESSIONS": "on", "AUTH__COOKIE_DOMAIN": "example.com"}
    make_app(**settings, CORE__PUBLIC_URL="https://api.example.com")
    make_app(**settings, CORE__PUBLIC_URL="https://example.com")
    with pytest.raises(SettingsError, match="COOKIE_DOMAIN"):
        make_app(**settings, CORE__PUBLIC_URL=url)


def test_owner_lists_and_ends_the_cookie_session(browser: CookieBrowser, ada: Person) -> None:
    browser.sign_in(ada)
    api = ada.api()
    (listed,) = [each for each in api.get("/sessions").json if each["kind"] == "cookie"]
    assert not listed["current"]
    (own,) = [each for each in browser.get("/sessions").json if each["current"]]
    assert own["id"] == listed["id"]
    api.delete(f"/sessions/{listed['id']}")
    browser.get("/account", 401)
    browser.sign_in(ada)
    (own,) = [each for each in browser.get("/sessions").json if each["current"]]
    browser.delete(f"/sessions/{own['id']}")
    assert browser.cookie is None
