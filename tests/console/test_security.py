"""What keeps an account its owner's: address, password, sessions, second factors."""

from __future__ import annotations

import re
from base64 import b32decode

import pytest
from flask import Flask

from app.auth.mfa import totp
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST, CookieBrowser
from .by_forms import Pages

NEW = "a new and better password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def pages(app: Flask, ada: Person) -> Pages:
    return Pages(app, ada)


SECURITY_PAGES = ("", "/email", "/password", "/sessions", "/factors", "/factors/codes", "/passkeys")


@pytest.mark.parametrize("path", SECURITY_PAGES)
def test_nobody_is_led_to_sign_in_and_back(app: Flask, path: str) -> None:
    answer = CookieBrowser(app).client.get(f"/security{path}", base_url=HOST)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in?next=")


def test_the_overview_says_what_there_is_and_what_is_missing(pages: Pages, ada: Person) -> None:
    shown = pages.get("/security")
    assert ada.email in shown
    assert "Add a passkey" in shown
    assert "and on no other device" in shown


def test_another_address_waits_to_be_confirmed(
    pages: Pages, ada: Person, mails: MailOutbox
) -> None:
    shown = pages.then("/security/email", email="ada@new.example")
    assert "Not confirmed yet" in shown
    assert "ada@new.example" in pages.get("/security")
    mails.assert_sent("ada@new.example")


def test_what_is_no_address_is_told_beside_its_field(pages: Pages) -> None:
    refused = pages.post("/security/email", 422, email="no address").text
    assert 'aria-invalid="true"' in refused
    assert 'value="no address"' in refused


def test_an_old_sign_in_is_asked_for_the_password(pages: Pages, clock: SteppingClock) -> None:
    assert 'name="password"' not in pages.get("/security/email")
    clock.step(minutes=16)
    assert 'name="password"' in pages.get("/security/email")
    pages.post("/security/email", 400, email="ada@new.example", password="not it")
    pages.post("/security/email", email="ada@new.example", password=PASSWORD)


def test_a_new_password_signs_all_others_out_and_not_this_browser(
    pages: Pages, app: Flask, ada: Person
) -> None:
    other = Pages(app, ada)
    before = pages.browser.cookie
    shown = pages.then("/security/password", current_password=PASSWORD, new_password=NEW)
    assert "Password changed" in shown
    assert pages.browser.cookie != before
    assert "/sign-in" in other.browser.client.get("/security", base_url=HOST).headers["Location"]


def test_a_wrong_password_changes_nothing_and_is_not_shown_again(pages: Pages) -> None:
    refused = pages.post(
        "/security/password", 400, current_password="wrong one", new_password=NEW
    ).text
    assert "wrong one" not in refused
    assert NEW not in refused
    assert 'role="alert"' in refused


def test_sessions_are_listed_by_their_devices_and_ended(
    pages: Pages, app: Flask, ada: Person
) -> None:
    phone = Pages(app)
    by = {"email": ada.email, "password": ada.password}
    phone.browser.post("/session", json=by, headers={"User-Agent": FIREFOX})
    shown = pages.get("/security/sessions")
    assert "Firefox on Linux" in shown
    [form] = set(re.findall(r'action="(/security/sessions/[0-9a-f-]{36})"', shown))
    assert "Signed out Firefox on Linux" in pages.then(form)
    phone.post("/security/email", email="x@example.com")
    assert "/sign-in" in phone.post("/security/sessions").headers["Location"]


def test_all_others_are_signed_out_at_once(pages: Pages, app: Flask, ada: Person) -> None:
    others = [Pages(app, ada) for _ in range(2)]
    assert "Signed out 2 other devices" in pages.then("/security/sessions")
    for other in others:
        assert other.browser.client.get("/security", base_url=HOST).status_code == 303


def test_a_strangers_session_is_not_found(pages: Pages, app: Flask, person: MakePerson) -> None:
    bob = Pages(app, person("bob"))
    [own] = bob.browser.get("/sessions").json
    pages.post(f"/security/sessions/{own['id']}", 404)
    assert bob.browser.get("/sessions").json == [own]


def set_up(pages: Pages, clock: SteppingClock) -> tuple[str, list[str]]:
    """An app's secret, and the recovery codes that come with it."""
    made = pages.post("/security/factors/app", 200, name="My phone").text
    secret, place = secret_in(made), place_in(made)
    kept = dict(re.findall(r'name="(secret|uri)" value="([^"]+)"', made))
    uri = kept["uri"].replace("&amp;", "&")
    wrong = pages.post(place, 400, otp="000000", secret=secret, uri=uri).text
    assert secret_in(wrong) == secret
    assert "<svg" in wrong
    otp = totp.code_at(b32decode(secret), int(clock.now().timestamp()) // totp.STEP_SECONDS)
    shown = pages.post(place, 200, otp=otp, secret=secret, uri=uri).text
    return secret, re.findall(r"<li><code>([a-z2-9-]+)</code></li>", shown)


def secret_in(shown: str) -> str:
    found = re.search(r'name="secret" value="([A-Z2-7]+)"', shown)
    assert found is not None
    return found[1]


def place_in(shown: str) -> str:
    found = re.search(r'action="(/security/factors/app/[0-9]+)"', shown)
    assert found is not None
    return found[1]


def test_an_app_is_set_up_renamed_and_removed(pages: Pages, clock: SteppingClock) -> None:
    _, codes = set_up(pages, clock)
    assert len(codes) == 10
    shown = pages.get("/security/factors")
    assert "My phone" in shown
    assert "10 of 10" in shown
    found = re.search(r'href="(/security/authenticators/[0-9]+)"', shown)
    assert found is not None
    assert "Renamed to Work phone" in pages.then(found[1], name="Work phone")
    assert 'aria-invalid="true"' in pages.post(found[1], 422, name=" ").text
    assert "Removed Work phone" in pages.then(f"{found[1]}/remove")
    assert "Work phone" not in pages.get("/security/factors")


def test_recovery_codes_are_made_anew(pages: Pages, clock: SteppingClock) -> None:
    _, codes = set_up(pages, clock)
    shown = pages.post("/security/factors/codes", 200).text
    anew = re.findall(r"<li><code>([a-z2-9-]+)</code></li>", shown)
    assert len(anew) == 10
    assert not set(anew) & set(codes)


def test_there_are_no_recovery_codes_without_a_factor(pages: Pages) -> None:
    assert "created when you set up two-factor authentication" in pages.get(
        "/security/factors/codes"
    )
    pages.post("/security/factors/codes", 409)


def test_a_strangers_authenticator_is_not_found(
    pages: Pages, app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    bob = Pages(app, person("bob"))
    set_up(bob, clock)
    found = re.search(r"/security/authenticators/[0-9]+", bob.get("/security/factors"))
    assert found is not None
    pages.get(found[0], 404)
    pages.post(found[0], 404, name="Mine now")
    pages.post(f"{found[0]}/remove", 404)
    assert "My phone" in bob.get("/security/factors")


def test_an_app_without_its_secret_is_begun_anew(pages: Pages) -> None:
    answer = pages.browser.client.get("/security/factors/app/1", base_url=HOST)
    assert answer.headers["Location"] == "/security/factors/app"


def test_what_is_no_passkey_is_refused_on_its_page(pages: Pages) -> None:
    for credential in ("", "{", '{"id": 1}'):
        refused = pages.post("/security/passkeys/new", 422, name="Key", credential=credential)
        assert 'value="Key"' in refused.text


def test_what_is_switched_off_is_not_there(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__COOKIE_SESSIONS="on")
    pages = Pages(app, person("olga", into=app))
    assert "Authenticator" not in pages.get("/security")
    for path in ("/factors", "/factors/app", "/factors/codes"):
        assert "Multi-factor authentication is off." in pages.get(f"/security{path}", 403)
    for path in ("/passkeys", "/passkeys/new"):
        pages.get(f"/security{path}", 404)
