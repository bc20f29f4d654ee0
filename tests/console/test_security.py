"""Security of an account: email address, password, sessions and second factors."""

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
from .form_client import FormClient

NEW = "a new and better password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def pages(app: Flask, ada: Person) -> FormClient:
    return FormClient(app, ada)


SECURITY_PAGES = ("", "/email", "/password", "/sessions", "/factors", "/factors/codes", "/passkeys")


@pytest.mark.parametrize("path", SECURITY_PAGES)
def test_anonymous_visitor_is_redirected_to_sign_in(app: Flask, path: str) -> None:
    answer = CookieBrowser(app).client.get(f"/security{path}", base_url=HOST)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in?next=")


def test_overview_shows_sign_in_methods_and_advice(pages: FormClient, ada: Person) -> None:
    shown = pages.get("/security")
    assert ada.email in shown
    assert "Add a passkey" in shown
    assert "and on no other device" in shown


def test_checkup_advises_one_step(pages: FormClient, clock: SteppingClock) -> None:
    assert steps(pages) == ["Add a passkey"]
    set_up(pages, clock)
    assert steps(pages) == []
    assert "There is nothing to do." in pages.get("/security")


def steps(pages: FormClient) -> list[str]:
    return re.findall(r"<b>Next step: ([^<]+)</b>", pages.get("/security"))


def test_new_email_address_waits_for_confirmation(
    pages: FormClient, ada: Person, mails: MailOutbox
) -> None:
    shown = pages.post_and_follow("/security/email", email="ada@new.example")
    assert "Not confirmed yet" in shown
    assert "ada@new.example" in pages.get("/security")
    mails.assert_sent("ada@new.example")


def test_invalid_email_address_is_reported_at_its_field(pages: FormClient) -> None:
    refused = pages.post("/security/email", 422, email="no address").text
    assert 'aria-invalid="true"' in refused
    assert 'value="no address"' in refused


def test_old_sign_in_needs_the_password(pages: FormClient, clock: SteppingClock) -> None:
    assert 'name="password"' not in pages.get("/security/email")
    clock.step(minutes=16)
    assert 'name="password"' in pages.get("/security/email")
    pages.post("/security/email", 400, email="ada@new.example", password="not it")
    pages.post("/security/email", email="ada@new.example", password=PASSWORD)


def test_password_change_ends_all_other_sessions(
    pages: FormClient, app: Flask, ada: Person
) -> None:
    other = FormClient(app, ada)
    before = pages.browser.cookie
    shown = pages.post_and_follow("/security/password", current_password=PASSWORD, new_password=NEW)
    assert "Password changed" in shown
    assert pages.browser.cookie != before
    assert "/sign-in" in other.browser.client.get("/security", base_url=HOST).headers["Location"]


def test_current_password_is_no_new_password(pages: FormClient) -> None:
    typed = {"current_password": PASSWORD, "new_password": PASSWORD}
    refused = pages.post("/security/password", 422, **typed).text
    assert "This is your current password." in refused


def test_wrong_password_is_rejected_and_not_shown_again(pages: FormClient) -> None:
    refused = pages.post(
        "/security/password", 400, current_password="wrong one", new_password=NEW
    ).text
    assert "wrong one" not in refused
    assert NEW not in refused
    assert 'role="alert"' in refused


def test_sessions_are_listed_with_devices_and_can_be_ended(
    pages: FormClient, app: Flask, ada: Person
) -> None:
    phone = FormClient(app)
    by = {"email": ada.email, "password": ada.password}
    phone.browser.post("/session", json=by, headers={"User-Agent": FIREFOX})
    shown = pages.get("/security/sessions")
    assert "Firefox on Linux" in shown
    [form] = set(re.findall(r'action="(/security/sessions/[0-9a-f-]{36})"', shown))
    assert "Signed out Firefox on Linux" in pages.post_and_follow(form)
    phone.post("/security/email", email="x@example.com")
    assert "/sign-in" in phone.post("/security/sessions").headers["Location"]


def test_all_other_sessions_are_ended_at_once(pages: FormClient, app: Flask, ada: Person) -> None:
    others = [FormClient(app, ada) for _ in range(2)]
    assert "Signed out 2 other devices" in pages.post_and_follow("/security/sessions")
    for other in others:
        assert other.browser.client.get("/security", base_url=HOST).status_code == 303


def test_session_of_another_account_is_not_found(
    pages: FormClient, app: Flask, person: MakePerson
) -> None:
    bob = FormClient(app, person("bob"))
    [own] = bob.browser.get("/sessions").json
    pages.post(f"/security/sessions/{own['id']}", 404)
    assert bob.browser.get("/sessions").json == [own]


def set_up(pages: FormClient, clock: SteppingClock) -> tuple[str, list[str]]:
    """Set up an app, and return its secret and the recovery codes."""
    shown = pages.get("/security/factors/app")
    typed = {"key": offered_key(shown), "otp": code_now(shown, clock), "name": "My phone"}
    done = pages.post(SET_UP, 200, **typed).text
    codes = re.findall(r"<li><code>([a-z2-9-]+)</code></li>", done)
    return shown_secret(shown).replace(" ", ""), codes


def test_authenticator_app_is_set_up_renamed_and_removed(
    pages: FormClient, clock: SteppingClock
) -> None:
    _, codes = set_up(pages, clock)
    assert len(codes) == 10
    shown = pages.get("/security/factors")
    assert "My phone" in shown
    assert "10 of 10" in shown
    found = re.search(r'href="(/security/authenticators/[0-9]+)"', shown)
    assert found is not None
    assert "Renamed to Work phone" in pages.post_and_follow(found[1], name="Work phone")
    assert 'aria-invalid="true"' in pages.post(found[1], 422, name=" ").text
    assert "Removed Work phone" in pages.post_and_follow(f"{found[1]}/remove")
    assert "Work phone" not in pages.get("/security/factors")


def offered_key(shown: str) -> str:
    found = re.search(r'name="key" value="([^"]+)"', shown)
    assert found is not None
    return found[1]


def shown_secret(shown: str) -> str:
    found = re.search(r"<code>((?:[A-Z2-7]{4} ?)+)</code>", shown)
    assert found is not None
    return found[1].replace(" ", "")


def code_now(shown: str, clock: SteppingClock) -> str:
    step = int(clock.now().timestamp()) // totp.STEP_SECONDS
    return totp.code_at(b32decode(shown_secret(shown)), step)


SET_UP = "/security/factors/app/set-up"


def test_app_is_set_up_on_one_page(pages: FormClient, clock: SteppingClock) -> None:
    shown = pages.get("/security/factors/app")
    assert "<svg" in shown
    again = pages.post(SET_UP, 400, key=offered_key(shown), otp="000000", name="Blue phone").text
    assert shown_secret(again) == shown_secret(shown)
    assert 'value="Blue phone"' in again
    otp = code_now(again, clock)
    codes = pages.post(SET_UP, 200, key=offered_key(again), otp=otp, name="Blue phone").text
    assert len(re.findall(r"<li><code>", codes)) == 10
    assert "Blue phone" in pages.get("/security/factors")
    # The key of a finished setup is worthless, and the page shows a new one.
    after = pages.post(SET_UP, 422, key=offered_key(shown), otp=otp, name="Twin").text
    assert "The key has expired" in after
    assert shown_secret(after) != shown_secret(shown)
    assert "Twin" not in pages.get("/security/factors")


def test_key_of_an_app_expires_and_belongs_to_one_account(
    pages: FormClient, app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    shown = pages.get("/security/factors/app")
    bob = FormClient(app, person("bob"))
    fields = {"key": offered_key(shown), "otp": code_now(shown, clock), "name": ""}
    assert "The key has expired" in bob.post(SET_UP, 422, **fields).text
    clock.step(minutes=11)
    fields["otp"] = code_now(shown, clock)
    assert "The key has expired" in pages.post(SET_UP, 422, **fields).text
    pages.post(SET_UP, 422, key="no key", otp="1")


def test_viewing_the_setup_page_stores_nothing(pages: FormClient, ada: Person) -> None:
    pages.get("/security/factors/app")
    assert pages.browser.get("/authenticators").json == []


def test_app_without_a_name_is_named_in_the_language_of_the_owner(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    pages = FormClient(app, person("frida", locale="de"))
    shown = pages.get("/security/factors/app")
    fields = {"key": offered_key(shown), "otp": code_now(shown, clock), "name": ""}
    pages.post(SET_UP, 200, **fields)
    [own] = pages.browser.get("/authenticators").json
    assert own["name"] == "Authenticator-App"


def test_recovery_codes_are_downloaded_as_a_file(
    pages: FormClient, ada: Person, clock: SteppingClock
) -> None:
    _, codes = set_up(pages, clock)
    sent = {"codes": codes}
    file = pages.post("/security/factors/codes/file", 200, **sent)
    assert file.mimetype == "text/plain"
    day = f"{clock.now():%Y-%m-%d}"
    name = f'attachment; filename="Frontdesk_recovery_codes_{day}.txt"'
    assert file.headers["Content-Disposition"] == name
    assert "no-store" in file.headers["Cache-Control"]
    assert f"Account: {ada.email}" in file.text
    assert [line for line in file.text.splitlines() if line in codes] == codes
    assert "Older codes" not in file.text
    again = pages.post("/security/factors/codes/file", 200, replaces_codes="true", **sent)
    assert "Older codes no longer work." in again.text


@pytest.mark.parametrize("codes", [[], ["<script>"] * 10, ["abcd-efgh"] * 11])
def test_file_has_only_recovery_codes(pages: FormClient, codes: list[str]) -> None:
    pages.post("/security/factors/codes/file", 422, codes=codes)


def test_new_recovery_codes_replace_the_old_ones(pages: FormClient, clock: SteppingClock) -> None:
    _, codes = set_up(pages, clock)
    shown = pages.post("/security/factors/codes", 200).text
    renewed = re.findall(r"<li><code>([a-z2-9-]+)</code></li>", shown)
    assert len(renewed) == 10
    assert not set(renewed) & set(codes)
    assert "Older codes no longer work." in shown
    assert 'name="replaces_codes"' in shown


def test_first_recovery_codes_replace_no_codes(pages: FormClient, clock: SteppingClock) -> None:
    shown = pages.get("/security/factors/app")
    fields = {"key": offered_key(shown), "otp": code_now(shown, clock), "name": ""}
    first = pages.post(SET_UP, 200, **fields).text
    assert "Each code replaces your authenticator once." in first
    assert "Older codes" not in first
    assert "replaces_codes" not in first


def test_recovery_codes_need_a_second_factor(pages: FormClient) -> None:
    assert "created when you set up two-factor authentication" in pages.get(
        "/security/factors/codes"
    )
    pages.post("/security/factors/codes", 409)


def test_authenticator_of_another_account_is_not_found(
    pages: FormClient, app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    bob = FormClient(app, person("bob"))
    set_up(bob, clock)
    found = re.search(r"/security/authenticators/[0-9]+", bob.get("/security/factors"))
    assert found is not None
    pages.get(found[0], 404)
    pages.post(found[0], 404, name="Mine now")
    pages.post(f"{found[0]}/remove", 404)
    assert "My phone" in bob.get("/security/factors")


def test_invalid_passkey_is_rejected_on_its_page(pages: FormClient) -> None:
    for credential in ("", "{", '{"id": 1}'):
        refused = pages.post("/security/passkeys/new", 422, name="Key", credential=credential)
        assert 'value="Key"' in refused.text


def test_disabled_features_are_unavailable(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__COOKIE_SESSIONS="on")
    pages = FormClient(app, person("olga", into=app))
    assert "Authenticator" not in pages.get("/security")
    for path in ("/factors", "/factors/app", "/factors/codes"):
        assert "Page not found" in pages.get(f"/security{path}", 404)
    for path in ("/passkeys", "/passkeys/new"):
        pages.get(f"/security{path}", 404)


def test_first_app_is_set_up_straight_from_the_security_page(pages: FormClient) -> None:
    assert 'href="/security/factors/app"' in pages.get("/security")
    page = pages.get("/security/factors/app")
    [field] = re.findall(r'<input[^>]* name="otp"[^>]*>', page)
    assert "autofocus" in field
    [key] = re.findall(r'name="key" value="([^"]*)"', page)
    assert "The key is not shown again." in page
    refused = pages.post(SET_UP, 400, key=key, otp="000000").text
    assert "The key is not shown again." not in refused
