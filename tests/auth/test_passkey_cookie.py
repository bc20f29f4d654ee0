"""Passkeys in a browser with a cookie session."""

from __future__ import annotations

import pytest
from flask import Flask

from ..conftest import MakeApp, Person
from ..rigs.authenticator import SoftAuthenticator
from ..rigs.cookie_browsers import CookieBrowser, stored_sessions
from .passkey_holder import Holder


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__COOKIE_SESSIONS="on", AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    holder = Holder(ada.api())
    holder.add()
    return holder


def test_passkey_sets_the_session_cookie(app: Flask, holder: Holder) -> None:
    browser = CookieBrowser(app)
    answer = browser.post("/session/passkey", json={"credential": holder.show()})
    assert answer.json.keys() == {"account", "expires"}
    assert browser.get("/account").json["email"] == "ada@example.com"
    [session] = [each for each in browser.get("/sessions").json if each["current"]]
    assert (session["kind"], session["amr"]) == ("cookie", ["hwk", "user", "mfa"])
    browser.post("/session/passkey", 400, json={"credential": {**holder.show(), "id": "AAAA"}})


def test_cross_site_request_is_rejected(app: Flask, holder: Holder) -> None:
    browser, body = CookieBrowser(app), {"credential": holder.show()}
    before = len(stored_sessions(app))
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    refused = browser.post("/session/passkey", 403, json=body, headers=headers)
    assert "Set-Cookie" not in refused.headers
    assert len(stored_sessions(app)) == before


def test_adding_a_passkey_keeps_the_browser_signed_in(make_app: MakeApp, ada: Person) -> None:
    app = make_app(AUTH__COOKIE_SESSIONS="on", AUTH__MFA="optional")
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    options = browser.post("/authenticators/passkey/options").json
    credential = SoftAuthenticator().create(options)
    answer = browser.post(
        "/authenticators/passkey", json={"name": "Laptop", "credential": credential}
    )
    assert "access_token" not in answer.json
    assert len(answer.json["recovery_codes"]) == 10
    assert browser.get("/account").json["email"] == ada.email
    assert [each["current"] for each in browser.get("/sessions").json] == [True]
