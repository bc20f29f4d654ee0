"""Sign-in methods that end in a session cookie: MFA, passkey and one-time code by email."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, Person
from ..registration.visitors import code_in
from ..rigs.cookie_browsers import CookieBrowser, RawCookieClient
from .factors import Phone, enroll
from .passkey_holder import Holder

ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__COOKIE_SESSIONS="on",
        AUTH__MFA="optional",
        AUTH__MFA_TRUST_DAYS="30",
        AUTH__PASSKEYS="on",
        AUTH__LOGIN_BY_CODE="on",
    )


@pytest.fixture
def browser(app: Flask) -> CookieBrowser:
    return CookieBrowser(app)


@pytest.fixture
def phone(ada: Person, clock: SteppingClock) -> Phone:
    return enroll(ada.api(), clock, name="Phone").phone


def is_signed_in(browser: CookieBrowser, answer: Any, *members: str) -> bool:
    """Return whether the browser is signed in; also check that the response holds no token."""
    assert answer.json.keys() == {"account", "expires", *members}
    assert browser.get("/account").json["email"] == "ada@example.com"
    return browser.cookie is not None


def test_password_alone_sets_no_cookie_when_mfa_is_enabled(
    browser: CookieBrowser, ada: Person, phone: Phone
) -> None:
    refused = browser.sign_in(ada, 403)
    assert refused.json["code"] == "mfa_required"
    assert browser.cookie is None
    step = {"mfa_token": refused.json["mfa_token"], "otp": phone.next_code()}
    assert browser.post("/session/mfa", 403, json=step, headers=ELSEWHERE).json["code"] == (
        "cross_site"
    )
    assert is_signed_in(browser, browser.post("/session/mfa", json=step))
    browser.post("/session/mfa", 400, json=step)


def test_code_is_accepted_with_the_password(
    browser: CookieBrowser, ada: Person, phone: Phone
) -> None:
    browser.sign_in(ada, 400, otp=phone.wrong_code())
    assert browser.cookie is None
    assert is_signed_in(browser, browser.sign_in(ada, otp=phone.next_code()))


def test_trusted_browser_receives_a_device_token(
    app: Flask, browser: CookieBrowser, ada: Person, phone: Phone
) -> None:
    token = browser.sign_in(ada, 403).json["mfa_token"]
    step = {"mfa_token": token, "otp": phone.next_code(), "trust": True}
    answer = browser.post("/session/mfa", json=step)
    assert is_signed_in(browser, answer, "trusted_device")
    browser.delete("/session")
    body = {"email": ada.email, "password": ada.password}
    device = {"X-Trusted-Device": answer.json["trusted_device"]}
    browser.post("/session", 403, json=body)
    assert is_signed_in(browser, browser.post("/session", json=body, headers=device))


def test_enrolling_an_app_by_cookie_keeps_the_browser_signed_in(
    browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    browser.sign_in(ada)
    before = browser.cookie
    made = browser.post("/authenticators/totp", 201, json={"name": "Phone"}).json
    confirmed = {"otp": Phone(made["secret"], clock).code()}
    answer = browser.post(f"/authenticators/{made['id']}/confirm", json=confirmed)
    assert "access_token" not in answer.json
    assert len(answer.json["recovery_codes"]) == 10
    assert browser.cookie not in (None, before)
    browser.get("/account")


def test_passkey_signs_in(browser: CookieBrowser, ada: Person) -> None:
    holder = Holder(ada.api())
    holder.add(status=200)
    shown = {"credential": holder.show()}
    browser.post("/session/passkey", 403, json=shown, headers=ELSEWHERE)
    assert is_signed_in(browser, browser.post("/session/passkey", json=shown))
    browser.post("/session/passkey", 400, json=shown)


def test_emailed_code_signs_in(browser: CookieBrowser, ada: Person, mails: MailOutbox) -> None:
    asked = browser.post("/login/code", 202, json={"email": ada.email}).json
    code = {"login_id": asked["login_id"], "code": code_in(mails.last(ada.email).text)}
    browser.post("/session/code", 403, json=code, headers=ELSEWHERE)
    assert is_signed_in(browser, browser.post("/session/code", json=code))
    browser.post("/session/code", 400, json=code)


def test_disabled_cookie_sessions_have_no_sign_in_routes(make_app: MakeApp) -> None:
    methods = {"AUTH__MFA": "optional", "AUTH__PASSKEYS": "on", "AUTH__LOGIN_BY_CODE": "on"}
    client = RawCookieClient(make_app(AUTH__SESSIONS="on", **methods))
    for method in ("mfa", "passkey", "code"):
        client.post(f"/session/{method}", 404, json={})
