"""Registering on the pages, a forgotten password, and what else the links of mails lead to."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, Person, only_on
from ..core.test_access_matrix import rows
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .guest import Guest, code_of, link_of

pytestmark = only_on("sqlite")
NEW = "otters like cold rivers"
GRACE = "grace@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        CORE__CLIENT_HOST=HOST,
        AUTH__REGISTRATION="open",
        AUTH__ACCOUNT_DELETION="on",
        AUTH__HIDE_ACCOUNTS="false",
    )


@pytest.fixture
def guest(app: Flask) -> Guest:
    return Guest(app)


def register(guest: Guest, email: str = GRACE, password: str = NEW) -> None:
    guest.open("/register?next=/confirm")
    guest.press("/register", email=email, password=password)


def test_who_registers_confirms_by_the_link(guest: Guest, mails: MailOutbox) -> None:
    register(guest)
    assert "We sent an email to grace@example.com." in guest.seen.text
    link = link_of(mails, GRACE)
    guest.open(link)
    assert guest.press("/verify").text.startswith("Skip to the content")
    assert guest.path.startswith("/sign-in")
    assert "Email address confirmed." in guest.seen.text
    guest.press("/sign-in", email=GRACE, password=NEW)
    assert guest.is_in()


def test_or_by_the_code(guest: Guest, mails: MailOutbox) -> None:
    register(guest)
    guest.press("/verify", token="00000000")
    assert guest.status == 400
    guest.press("/verify", token=code_of(mails, GRACE))
    assert guest.path == "/sign-in?next=/confirm"
    guest.press("/sign-in", email=GRACE, password=NEW)
    assert guest.path == "/confirm"


def test_a_mail_is_sent_once_more(guest: Guest, mails: MailOutbox) -> None:
    register(guest)
    # One a minute, whoever asks.
    mails.clear()
    seen = guest.press("/verify/mail")
    assert "we sent another email" in seen.text
    guest.press("/verify", token="00000000")
    assert "This code or link is invalid" in guest.seen.text


def test_who_has_not_confirmed_is_told_at_the_door(guest: Guest) -> None:
    register(guest)
    seen = guest.sign_in(GRACE, NEW)
    assert "Confirm your email address first" in seen.text
    seen = guest.press("/verify/mail")
    assert "We sent an email to grace@example.com." in seen.text
    assert "First confirm" not in guest.sign_in(GRACE, "not this one").text


@pytest.mark.parametrize(
    ("email", "password", "field"),
    [("no address", NEW, "email"), (GRACE, "otters", "password"), (GRACE, "password1", "password")],
)
def test_what_is_wrong_stands_at_its_field(
    guest: Guest, email: str, password: str, field: str
) -> None:
    register(guest, email, password)
    assert guest.status == 422
    page = guest.answer.text
    assert set(re.findall(r'id="register_account-(\w+)-fault"', page)) == {field}
    assert f'value="{email}"' in page
    assert f'value="{password}"' not in page


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("closed", "Ask an administrator"),
        ("invited", "by invitation"),
        ("domains", "an email address of b.org"),
    ],
)
def test_the_page_says_who_may(make_app: MakeApp, mode: str, words: str) -> None:
    app = make_app(AUTH__REGISTRATION=mode, AUTH__REGISTRATION_DOMAINS='["b.org"]')
    seen = Guest(app).open("/register")
    assert words in seen.text
    assert ("/register" in [form.action for form in seen.forms]) is (mode == "domains")


def test_who_need_prove_nothing_is_in_at_once(make_app: MakeApp) -> None:
    guest = Guest(make_app(AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="off"))
    register(guest)
    assert guest.is_in()


def test_a_password_is_reset_by_the_link(guest: Guest, ada: Person, mails: MailOutbox) -> None:
    guest.open("/forgot")
    guest.press("/forgot", email=ada.email)
    link = link_of(mails, ada.email)
    guest.open(link)
    guest.press("/reset", new_password="password1")
    assert guest.status == 422
    guest.press("/reset", new_password=NEW)
    assert "Password changed." in guest.seen.text
    guest.press("/sign-in", email=ada.email, password=NEW)
    assert guest.is_in()
    seen = guest.open(link)
    assert "This link has expired" in seen.text
    assert not [form for form in seen.forms if form.action == "/reset"]


def test_or_by_the_short_code(guest: Guest, ada: Person, mails: MailOutbox) -> None:
    guest.open("/forgot")
    guest.press("/forgot", email=ada.email)
    guest.press("/reset/code", token="00000000")
    assert guest.status == 400
    guest.press("/reset/code", token=code_of(mails, ada.email))
    guest.press("/reset", new_password=NEW)
    assert guest.path == "/sign-in"
    guest.press("/sign-in", email=ada.email, password=NEW)
    assert guest.is_in()


def test_whether_there_is_an_account_is_told_as_the_api_does(
    guest: Guest, make_app: MakeApp
) -> None:
    guest.open("/forgot")
    assert (
        "No account has this email address"
        in guest.press("/forgot", email="nobody@example.com").text
    )
    assert guest.status == 404
    hiding = Guest(make_app(AUTH__HIDE_ACCOUNTS="true"))
    hiding.open("/forgot")
    seen = hiding.press("/forgot", email="nobody@example.com")
    assert (hiding.status, "If nobody@example.com has an account" in seen.text) == (200, True)


def test_another_address_is_confirmed_and_taken_back(
    app: Flask, guest: Guest, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post(
        "/account/email", 202, json={"email": "countess@example.com", "password": PASSWORD}
    )
    back = link_of(mails, ada.email)
    guest.open(link_of(mails, "countess@example.com"))
    assert "Incorrect email or password" in guest.press("/confirm-email", password="wrong").text
    assert not guest.is_in()
    guest.press("/confirm-email", password=PASSWORD)
    assert guest.is_in()
    assert "New email address confirmed." in guest.seen.text
    other = Guest(app)
    other.open(back)
    seen = other.press("/undo-email")
    assert "Your old email address was restored" in seen.text
    assert not guest.is_in()
    assert link_of(mails, ada.email).startswith("/reset")
    other.open(back)
    other.press("/undo-email")
    assert other.status == 400


def test_a_new_address_is_confirmed_after_signing_in(
    guest: Guest, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post("/account/email", 202, json={"email": "countess@example.com"})
    guest.open(link_of(mails, "countess@example.com"))
    [sign_in] = [link for link in guest.seen.links if link.startswith("/sign-in?next=")]
    guest.sign_in(ada.email, PASSWORD, sign_in)
    assert guest.path.startswith("/confirm-email?token=")
    assert "Your password" not in guest.seen.text
    guest.press("/confirm-email")
    assert "New email address confirmed." in guest.seen.text


def test_an_account_is_kept_after_all(guest: Guest, ada: Person, mails: MailOutbox) -> None:
    ada.api().delete("/account", 202, json={"password": PASSWORD})
    guest.open(link_of(mails, ada.email))
    guest.press("/keep-account")
    assert "Your account was restored." in guest.seen.text
    guest.press("/sign-in", email=ada.email, password=ada.password)
    assert guest.is_in()


def test_links_of_mails_do_nothing_by_being_opened(
    app: Flask, guest: Guest, ada: Person, mails: MailOutbox
) -> None:
    """As scanners of mail do."""
    register(guest)
    ada.api().post("/account/email", 202, json={"email": "c@example.com", "password": PASSWORD})
    guest.open("/forgot")
    guest.press("/forgot", email=ada.email)
    links = {link_of(mails, each) for each in (GRACE, ada.email, "c@example.com")}
    before = rows(app)
    for link in links:
        for method in ("GET", "HEAD"):
            answer = guest.client.open(link, method=method, base_url=HOST, headers=SAME_ORIGIN)
            assert answer.status_code == 200
    assert rows(app) == before
    assert {link.partition("?")[0] for link in links} == {"/verify", "/reset", "/confirm-email"}


def test_links_lead_to_the_pages_wherever_the_settings_say(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    paths = {
        "PASSWORD_RECOVERY_PATH": "/lost-password",
        "PASSWORD_RESET_PATH": "/new-password",
        "VERIFICATION_PATH": "/welcome",
        "EMAIL_CHANGE_PATH": "/new-address",
        "EMAIL_UNDO_PATH": "/old-address",
        "ACCOUNT_RESTORE_PATH": "/stay",
    }
    app = make_app(**{f"AUTH__{name}": path for name, path in paths.items()})
    guest = Guest(app)
    for path in paths.values():
        guest.open(f"{path}?token=of-another")
        assert guest.status == 200, path
    seen = guest.open("/welcome?token=of-another")
    assert [form.action for form in seen.forms] == ["/verify"]
    guest.press("/verify")
    assert guest.status == 400
