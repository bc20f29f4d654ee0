"""The second factor at sign-in, and re-authentication on the pages."""

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
from .page_client import PageClient, code_of, link_of

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
def client(app: Flask) -> PageClient:
    return PageClient(app)


@pytest.fixture
def hers(ada: Person, clock: SteppingClock) -> Enrolled:
    return enrolled(ada, clock)


def test_code_of_the_app_signs_in(client: PageClient, ada: Person, hers: Enrolled) -> None:
    seen = client.sign_in(ada.email, ada.password, "/sign-in?next=/confirm")
    assert (client.status, client.path) == (200, "/sign-in")
    assert "Enter the code that your authenticator app shows" in seen.text
    assert not client.is_signed_in()
    seen = client.submit("/sign-in/second-step", otp=hers.phone.wrong_code())
    assert (client.status, client.is_signed_in()) == (400, False)
    assert "Incorrect or used code" in seen.text
    client.submit("/sign-in/second-step", otp=hers.phone.next_code())
    assert (client.path, client.is_signed_in()) == ("/confirm", True)


def test_an_email_address_changes_only_after_the_second_factor(
    client: PageClient, ada: Person, hers: Enrolled, mails: MailOutbox
) -> None:
    new = "countess@example.com"
    hers.api.post("/account/email", 202, json={"email": new})
    client.open(link_of(mails, new))
    client.submit("/confirm-email", password=ada.password)
    assert hers.api.get("/account").json["email"] == ada.email
    client.submit("/sign-in", email=ada.email, password=ada.password)
    client.submit("/sign-in/second-step", otp=hers.phone.next_code())
    assert client.path == "/confirm-email"
    client.submit("/confirm-email")
    assert "New email address confirmed." in client.page.text


def test_recovery_code_works_once(app: Flask, ada: Person, hers: Enrolled) -> None:
    [first, *_] = hers.recovery_codes
    for does in (True, False):
        client = PageClient(app)
        client.sign_in(ada.email, ada.password)
        client.submit("/sign-in/second-step/recovery-code", recovery_code=first)
        assert client.is_signed_in() is does


def test_expired_sign_in_starts_again(
    client: PageClient, ada: Person, hers: Enrolled, clock: SteppingClock
) -> None:
    client.sign_in(ada.email, ada.password)
    clock.step(minutes=6)
    seen = client.submit("/sign-in/second-step", otp=hers.phone.code())
    assert (client.status, client.is_signed_in()) == (400, False)
    assert "Start sign-in again" in seen.text


def test_trusted_device_skips_the_second_factor(
    client: PageClient, ada: Person, hers: Enrolled
) -> None:
    client.sign_in(ada.email, ada.password)
    client.submit("/sign-in/second-step", otp=hers.phone.next_code(), trust="true")
    cookie = client.client.get_cookie("__Host-fd-device", "localhost", "/")
    assert cookie is not None
    assert (cookie.http_only, cookie.secure, cookie.same_site) == (True, True, "Lax")
    client.submit("/sign-out")
    client.sign_in(ada.email, ada.password)
    assert client.is_signed_in()
    assert hers.api.get("/trusted-devices").json[0]["last_used_at"] is not None


def test_device_is_trusted_only_if_chosen(client: PageClient, ada: Person, hers: Enrolled) -> None:
    client.sign_in(ada.email, ada.password)
    client.submit("/sign-in/second-step", otp=hers.phone.next_code())
    assert client.is_signed_in()
    assert client.client.get_cookie("__Host-fd-device", "localhost", "/") is None


def test_required_app_is_set_up_at_sign_in(
    client: PageClient, person: MakePerson, clock: SteppingClock
) -> None:
    boss = person("boss", role="admin")
    seen = client.sign_in(boss.email, boss.password)
    assert "Protect your account" in seen.text
    seen = client.submit("/sign-in/set-up")
    phone, page = phone_of(client.answer.text, clock), client.answer.text
    assert not client.is_signed_in()
    action = next(form.action for form in seen.forms if "otp" in form.fields)
    client.submit(action, otp=phone.wrong_code())
    assert client.status == 400
    assert phone_of(client.answer.text, clock).secret == phone.secret
    assert drawing(client.answer.text) == drawing(page)
    seen = client.submit(action, otp=phone.code())
    codes = re.findall(r"<li><code>([^<]+)</code>", client.answer.text)
    assert len(set(codes)) == 10
    assert client.is_signed_in()
    other = PageClient(client.client.application)
    other.sign_in(boss.email, boss.password)
    other.submit("/sign-in/second-step/recovery-code", recovery_code=codes[3])
    assert other.is_signed_in()


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "https://evil.example", ""])
def test_set_up_page_links_to_otpauth_addresses_only(
    client: PageClient, person: MakePerson, clock: SteppingClock, uri: str
) -> None:
    boss = person("boss", role="admin")
    client.sign_in(boss.email, boss.password)
    seen = client.submit("/sign-in/set-up")
    phone = phone_of(client.answer.text, clock)
    action = next(form.action for form in seen.forms if "otp" in form.fields)
    client.submit(action, otp=phone.wrong_code(), uri=uri)
    page = client.answer.text
    assert (client.status, "Or open the app" in page) == (400, False)
    assert "javascript" not in page
    assert "evil" not in page
    client.submit(action, otp=phone.code())
    assert client.is_signed_in()


def test_enrollment_ends_the_session_of_another_account(
    client: PageClient, ada: Person, person: MakePerson
) -> None:
    boss = person("boss", role="admin")
    client.sign_in(ada.email, ada.password)
    # In a tab that was already open.
    credentials = {"email": boss.email, "password": boss.password}
    client.client.post("/sign-in", data=credentials, base_url=HOST, headers=SAME_ORIGIN)
    assert not client.is_signed_in()


def test_emailed_code_requires_the_second_factor(
    client: PageClient, ada: Person, hers: Enrolled, mails: MailOutbox
) -> None:
    client.open("/sign-in/code")
    client.submit("/sign-in/code", email=ada.email)
    client.submit("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert not client.is_signed_in()
    client.submit("/sign-in/second-step", otp=hers.phone.next_code())
    assert client.is_signed_in()


def test_passkey_signs_in(client: PageClient, ada: Person) -> None:
    holder = Holder(ada.api())
    holder.add(status=200)
    client.open("/sign-in?next=/confirm")
    shown = holder.authenticator.get(asked_of(client.answer.text))
    client.submit("/sign-in/passkey", credential=json.dumps(shown))
    assert (client.path, client.is_signed_in()) == ("/confirm", True)


@pytest.mark.parametrize("sent", ["", "{", "[]", "7", '{"id": "AAAA"}', "[" * 2000])
def test_invalid_passkey_is_rejected(client: PageClient, sent: str) -> None:
    client.open("/sign-in")
    client.submit("/sign-in/passkey", credential=sent)
    assert (client.status, client.is_signed_in()) == (422, False)


def test_reauthentication_offers_the_methods_of_the_account(
    client: PageClient, ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    client.sign_in(ada.email, ada.password)
    clock.step(minutes=20)
    seen = client.open("/confirm?next=/dashboard")
    assert "Code by email" in seen.text
    assert "Code from the app" not in seen.text
    seen = client.submit("/confirm", password="not this one")
    assert (client.status, client.path) == (400, "/confirm")
    assert "Incorrect email or password." in seen.text
    client.submit("/confirm", password=ada.password)
    assert client.path == "/dashboard"
    client.open("/confirm?way=code&next=/dashboard")
    client.submit("/sign-in/code")
    assert client.status == 200
    client.submit("/confirm", code=code_of(mails, ada.email))
    assert client.path == "/dashboard"


def test_required_factor_offers_only_second_factors(
    client: PageClient, ada: Person, hers: Enrolled
) -> None:
    client.sign_in(ada.email, ada.password)
    client.submit("/sign-in/second-step", otp=hers.phone.next_code())
    seen = client.open("/confirm?factors=2&next=/dashboard")
    assert "Password" not in seen.text
    client.submit("/confirm", otp=hers.phone.wrong_code())
    assert client.status == 400
    assert "Password" not in client.page.text
    client.submit("/confirm", otp=hers.phone.next_code())
    assert client.path == "/dashboard"
    client.open("/confirm?factors=2&way=recovery_code&next=/dashboard")
    client.submit("/confirm", recovery_code=hers.recovery_codes[0])
    assert client.path == "/dashboard"


def test_passkey_is_second_factor_and_reauthenticates(client: PageClient, ada: Person) -> None:
    holder = Holder(ada.api())
    holder.add(status=200)
    client.sign_in(ada.email, ada.password)
    shown = holder.authenticator.get(asked_of(client.answer.text))
    client.submit("/sign-in/second-step/passkey", credential=json.dumps(shown))
    assert client.is_signed_in()
    client.open("/confirm?way=credential&next=/dashboard")
    shown = holder.authenticator.get(asked_of(client.answer.text))
    client.submit("/confirm/passkey", credential=json.dumps(shown))
    assert client.path == "/dashboard"
    # The credential is single-use.
    client.open("/confirm?way=credential&next=/dashboard")
    client.submit("/confirm/passkey", credential=json.dumps(shown))
    assert client.status == 400


def test_required_passkey_is_created_at_sign_in(client: PageClient, person: MakePerson) -> None:
    boss, authenticator = person("boss", role="admin"), SoftAuthenticator()
    client.sign_in(boss.email, boss.password)
    made = authenticator.create(asked_of(client.answer.text))
    seen = client.submit("/sign-in/set-up/passkey", credential=json.dumps(made))
    assert "Save your recovery codes" in seen.text
    assert client.is_signed_in()


def test_reauthentication_page_needs_a_session(client: PageClient) -> None:
    client.open("/confirm?next=/dashboard")
    assert client.path.startswith("/sign-in?next=/confirm")


def phone_of(page: str, clock: SteppingClock) -> Phone:
    found = re.search(r'name="secret" value="([A-Z2-7]+)"', page)
    assert found
    return Phone(found[1], clock)


def drawing(page: str) -> str:
    found = re.search(r'class="qr".*?</svg>', page, re.DOTALL)
    assert found
    return found[0]


def asked_of(page: str) -> dict[str, Any]:
    """Return the options that the script passes to the browser."""
    found = re.search(r'data-options="([^"]+)"', page)
    assert found
    options: dict[str, Any] = json.loads(unescape(found[1]))
    return options
