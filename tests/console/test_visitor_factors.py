"""The second step of a sign-in on the pages, and showing once more who one is."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..auth.factors import Enrolled, Phone, enrolled
from ..auth.passkey_holder import Holder
from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.authenticator import SoftAuthenticator
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .guest import Guest, code_of, link_of

pytestmark = only_on("sqlite")
FEATURES = {
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__MFA_REQUIRED_ROLES": '["admin"]',
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def guest(app: Flask) -> Guest:
    return Guest(app)


@pytest.fixture
def hers(ada: Person, clock: SteppingClock) -> Enrolled:
    return enrolled(ada, clock)


def test_the_code_of_the_app_leads_in(guest: Guest, ada: Person, hers: Enrolled) -> None:
    seen = guest.sign_in(ada.email, ada.password, "/sign-in?next=/confirm")
    assert (guest.status, guest.path) == (200, "/sign-in")
    assert "Enter the code that your authenticator app shows" in seen.text
    assert not guest.is_in()
    seen = guest.press("/sign-in/second-step", otp=hers.phone.wrong_code())
    assert (guest.status, guest.is_in()) == (400, False)
    assert "Incorrect or used code" in seen.text
    guest.press("/sign-in/second-step", otp=hers.phone.next_code())
    assert (guest.path, guest.is_in()) == ("/confirm", True)


def test_an_email_address_changes_only_after_the_second_factor(
    guest: Guest, ada: Person, hers: Enrolled, mails: MailOutbox
) -> None:
    new = "countess@example.com"
    hers.api.post("/account/email", 202, json={"email": new})
    guest.open(link_of(mails, new))
    guest.press("/confirm-email", password=ada.password)
    assert hers.api.get("/account").json["email"] == ada.email
    guest.press("/sign-in", email=ada.email, password=ada.password)
    guest.press("/sign-in/second-step", otp=hers.phone.next_code())
    assert guest.path.startswith("/confirm-email?token=")
    guest.press("/confirm-email")
    assert "New email address confirmed." in guest.seen.text


def test_a_recovery_code_does_once(app: Flask, ada: Person, hers: Enrolled) -> None:
    [first, *_] = hers.recovery_codes
    for does in (True, False):
        guest = Guest(app)
        guest.sign_in(ada.email, ada.password)
        guest.press("/sign-in/second-step/recovery-code", recovery_code=first)
        assert guest.is_in() is does


def test_who_goes_on_too_late_begins_anew(
    guest: Guest, ada: Person, hers: Enrolled, clock: SteppingClock
) -> None:
    guest.sign_in(ada.email, ada.password)
    clock.step(minutes=6)
    seen = guest.press("/sign-in/second-step", otp=hers.phone.code())
    assert (guest.status, guest.is_in()) == (400, False)
    assert "Start sign-in again" in seen.text


def test_a_trusted_device_is_asked_no_more(guest: Guest, ada: Person, hers: Enrolled) -> None:
    guest.sign_in(ada.email, ada.password)
    guest.press("/sign-in/second-step", otp=hers.phone.next_code(), trust="true")
    cookie = guest.client.get_cookie("__Host-fd-device", "localhost", "/")
    assert cookie is not None
    assert (cookie.http_only, cookie.secure, cookie.same_site) == (True, True, "Lax")
    guest.press("/sign-out")
    guest.sign_in(ada.email, ada.password)
    assert guest.is_in()
    assert hers.api.get("/trusted-devices").json[0]["last_used_at"] is not None


def test_no_device_is_trusted_that_was_not_to_be(guest: Guest, ada: Person, hers: Enrolled) -> None:
    guest.sign_in(ada.email, ada.password)
    guest.press("/sign-in/second-step", otp=hers.phone.next_code())
    assert guest.is_in()
    assert guest.client.get_cookie("__Host-fd-device", "localhost", "/") is None


def test_who_must_have_one_sets_it_up_first(
    guest: Guest, person: MakePerson, clock: SteppingClock
) -> None:
    boss = person("boss", role="admin")
    seen = guest.sign_in(boss.email, boss.password)
    assert "Protect your account" in seen.text
    seen = guest.press("/sign-in/set-up")
    phone, page = phone_of(guest.answer.text, clock), guest.answer.text
    assert not guest.is_in()
    action = next(form.action for form in seen.forms if "otp" in form.fields)
    guest.press(action, otp=phone.wrong_code())
    assert guest.status == 400
    assert phone_of(guest.answer.text, clock).secret == phone.secret
    assert drawing(guest.answer.text) == drawing(page)
    seen = guest.press(action, otp=phone.code())
    codes = re.findall(r"<li><code>([^<]+)</code>", guest.answer.text)
    assert len(set(codes)) == 10
    assert guest.is_in()
    other = Guest(guest.client.application)
    other.sign_in(boss.email, boss.password)
    other.press("/sign-in/second-step/recovery-code", recovery_code=codes[3])
    assert other.is_in()


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "https://evil.example", ""])
def test_set_up_page_links_to_otpauth_addresses_only(
    guest: Guest, person: MakePerson, clock: SteppingClock, uri: str
) -> None:
    boss = person("boss", role="admin")
    guest.sign_in(boss.email, boss.password)
    seen = guest.press("/sign-in/set-up")
    phone = phone_of(guest.answer.text, clock)
    action = next(form.action for form in seen.forms if "otp" in form.fields)
    guest.press(action, otp=phone.wrong_code(), uri=uri)
    page = guest.answer.text
    assert (guest.status, "Or open the app" in page) == (400, False)
    assert "javascript" not in page
    assert "evil" not in page
    guest.press(action, otp=phone.code())
    assert guest.is_in()


def test_nothing_is_set_up_for_somebody_else_who_was_in_there(
    guest: Guest, ada: Person, person: MakePerson
) -> None:
    boss = person("boss", role="admin")
    guest.sign_in(ada.email, ada.password)
    # In a tab that was open before.
    boss_at_door = {"email": boss.email, "password": boss.password}
    guest.client.post("/sign-in", data=boss_at_door, base_url=HOST, headers=SAME_ORIGIN)
    assert not guest.is_in()


def test_a_mailed_code_asks_for_the_factor_too(
    guest: Guest, ada: Person, hers: Enrolled, mails: MailOutbox
) -> None:
    guest.open("/sign-in/code")
    guest.press("/sign-in/code", email=ada.email)
    guest.press("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert not guest.is_in()
    guest.press("/sign-in/second-step", otp=hers.phone.next_code())
    assert guest.is_in()


def test_a_passkey_signs_in(guest: Guest, ada: Person) -> None:
    holder = Holder(ada.api())
    holder.add(status=200)
    guest.open("/sign-in?next=/confirm")
    shown = holder.authenticator.get(asked_of(guest.answer.text))
    guest.press("/sign-in/passkey", credential=json.dumps(shown))
    assert (guest.path, guest.is_in()) == ("/confirm", True)


@pytest.mark.parametrize("sent", ["", "{", "[]", "7", '{"id": "AAAA"}', "[" * 2000])
def test_what_is_no_passkey_signs_nobody_in(guest: Guest, sent: str) -> None:
    guest.open("/sign-in")
    guest.press("/sign-in/passkey", credential=sent)
    assert (guest.status, guest.is_in()) == (422, False)


def test_who_is_asked_once_more_shows_it_by_what_they_have(
    guest: Guest, ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    guest.sign_in(ada.email, ada.password)
    clock.step(minutes=20)
    seen = guest.open("/confirm?next=/dashboard")
    assert "Code by email" in seen.text
    assert "Code from the app" not in seen.text
    seen = guest.press("/confirm", password="not this one")
    assert (guest.status, guest.path) == (400, "/confirm")
    assert "Incorrect email or password." in seen.text
    guest.press("/confirm", password=ada.password)
    assert guest.path == "/dashboard"
    guest.open("/confirm?way=code&next=/dashboard")
    guest.press("/sign-in/code")
    assert guest.status == 200
    guest.press("/confirm", code=code_of(mails, ada.email))
    assert guest.path == "/dashboard"


def test_where_a_factor_is_needed_only_factors_are_offered(
    guest: Guest, ada: Person, hers: Enrolled
) -> None:
    guest.sign_in(ada.email, ada.password)
    guest.press("/sign-in/second-step", otp=hers.phone.next_code())
    seen = guest.open("/confirm?factors=2&next=/dashboard")
    assert "Password" not in seen.text
    guest.press("/confirm", otp=hers.phone.wrong_code())
    assert guest.status == 400
    assert "Password" not in guest.seen.text
    guest.press("/confirm", otp=hers.phone.next_code())
    assert guest.path == "/dashboard"
    guest.open("/confirm?factors=2&way=recovery_code&next=/dashboard")
    guest.press("/confirm", recovery_code=hers.recovery_codes[0])
    assert guest.path == "/dashboard"


def test_a_passkey_is_the_second_step_and_shown_once_more(guest: Guest, ada: Person) -> None:
    holder = Holder(ada.api())
    holder.add(status=200)
    guest.sign_in(ada.email, ada.password)
    shown = holder.authenticator.get(asked_of(guest.answer.text))
    guest.press("/sign-in/second-step/passkey", credential=json.dumps(shown))
    assert guest.is_in()
    guest.open("/confirm?way=credential&next=/dashboard")
    shown = holder.authenticator.get(asked_of(guest.answer.text))
    guest.press("/confirm/passkey", credential=json.dumps(shown))
    assert guest.path == "/dashboard"
    # It was good once.
    guest.open("/confirm?way=credential&next=/dashboard")
    guest.press("/confirm/passkey", credential=json.dumps(shown))
    assert guest.status == 400


def test_a_passkey_is_made_by_who_must_have_a_factor(guest: Guest, person: MakePerson) -> None:
    boss, authenticator = person("boss", role="admin"), SoftAuthenticator()
    guest.sign_in(boss.email, boss.password)
    made = authenticator.create(asked_of(guest.answer.text))
    seen = guest.press("/sign-in/set-up/passkey", credential=json.dumps(made))
    assert "Save your recovery codes" in seen.text
    assert guest.is_in()


def test_nobody_confirms_anything(guest: Guest) -> None:
    guest.open("/confirm?next=/dashboard")
    assert guest.path.startswith("/sign-in?next=/confirm")


def phone_of(page: str, clock: SteppingClock) -> Phone:
    found = re.search(r'name="secret" value="([A-Z2-7]+)"', page)
    assert found
    return Phone(found[1], clock)


def drawing(page: str) -> str:
    found = re.search(r'class="qr".*?</svg>', page, re.DOTALL)
    assert found
    return found[0]


def asked_of(page: str) -> dict[str, Any]:
    """What the page's script would ask the browser for."""
    found = re.search(r'data-options="([^"]+)"', page)
    assert found
    options: dict[str, Any] = json.loads(unescape(found[1]))
    return options
