"""Registration, password reset and the pages of other emailed links."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, Person, only_on
from ..core.test_access_matrix import rows
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .page_client import PageClient, code_of, link_of

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
def client(app: Flask) -> PageClient:
    return PageClient(app)


def register(client: PageClient, email: str = GRACE, password: str = NEW) -> None:
    client.open("/register?next=/confirm")
    client.submit("/register", email=email, password=password)


def test_registration_is_confirmed_with_the_link(client: PageClient, mails: MailOutbox) -> None:
    register(client)
    assert "We sent an email to grace@example.com." in client.page.text
    link = link_of(mails, GRACE)
    client.open(link)
    assert client.submit("/verify").text.startswith("Skip to the content")
    assert client.path.startswith("/sign-in")
    assert "Email address confirmed." in client.page.text
    client.submit("/sign-in", email=GRACE, password=NEW)
    assert client.is_signed_in()


def test_registration_is_confirmed_with_the_code(client: PageClient, mails: MailOutbox) -> None:
    register(client)
    client.submit("/verify", token="00000000")
    assert client.status == 400
    client.submit("/verify", token=code_of(mails, GRACE))
    assert client.path == "/sign-in?next=/confirm"
    client.submit("/sign-in", email=GRACE, password=NEW)
    assert client.path == "/confirm"


def test_verification_email_is_sent_again(client: PageClient, mails: MailOutbox) -> None:
    register(client)
    # The service sends one email per minute.
    mails.clear()
    seen = client.submit("/verify/mail")
    assert "we sent another email" in seen.text
    client.submit("/verify", token="00000000")
    assert "This code or link is invalid" in client.page.text


def test_unverified_account_is_asked_to_confirm_at_sign_in(client: PageClient) -> None:
    register(client)
    seen = client.sign_in(GRACE, NEW)
    assert "Confirm your email address first" in seen.text
    seen = client.submit("/verify/mail")
    assert "We sent an email to grace@example.com." in seen.text
    assert "First confirm" not in client.sign_in(GRACE, "not this one").text


@pytest.mark.parametrize(
    ("email", "password", "field"),
    [("no address", NEW, "email"), (GRACE, "otters", "password"), (GRACE, "password1", "password")],
)
def test_error_is_shown_at_its_field(
    client: PageClient, email: str, password: str, field: str
) -> None:
    register(client, email, password)
    assert client.status == 422
    page = client.answer.text
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
def test_page_shows_who_may_register(make_app: MakeApp, mode: str, words: str) -> None:
    app = make_app(AUTH__REGISTRATION=mode, AUTH__REGISTRATION_DOMAINS='["b.org"]')
    seen = PageClient(app).open("/register")
    assert words in seen.text
    assert ("/register" in [form.action for form in seen.forms]) is (mode == "domains")


def test_registration_without_verification_signs_in(make_app: MakeApp) -> None:
    client = PageClient(make_app(AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="off"))
    register(client)
    assert client.is_signed_in()


def test_password_is_reset_with_the_link(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    client.open("/forgot")
    client.submit("/forgot", email=ada.email)
    link = link_of(mails, ada.email)
    client.open(link)
    client.submit("/reset", new_password="password1")
    assert client.status == 422
    client.submit("/reset", new_password=NEW)
    assert "Password changed." in client.page.text
    client.submit("/sign-in", email=ada.email, password=NEW)
    assert client.is_signed_in()
    seen = client.open(link)
    assert "This link has expired" in seen.text
    assert not [form for form in seen.forms if form.action == "/reset"]


def test_password_is_reset_with_the_code(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    client.open("/forgot")
    client.submit("/forgot", email=ada.email)
    client.submit("/reset/code", token="00000000")
    assert client.status == 400
    client.submit("/reset/code", token=code_of(mails, ada.email))
    client.submit("/reset", new_password=NEW)
    assert client.path == "/sign-in"
    client.submit("/sign-in", email=ada.email, password=NEW)
    assert client.is_signed_in()


def test_unknown_account_is_reported_unless_accounts_are_hidden(
    client: PageClient, make_app: MakeApp
) -> None:
    client.open("/forgot")
    assert (
        "No account has this email address"
        in client.submit("/forgot", email="unknown@example.com").text
    )
    assert client.status == 404
    hiding = PageClient(make_app(AUTH__HIDE_ACCOUNTS="true"))
    hiding.open("/forgot")
    seen = hiding.submit("/forgot", email="unknown@example.com")
    assert (hiding.status, "If unknown@example.com has an account" in seen.text) == (200, True)


def test_new_email_address_is_confirmed_and_undone(
    app: Flask, client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post(
        "/account/email", 202, json={"email": "countess@example.com", "password": PASSWORD}
    )
    back = link_of(mails, ada.email)
    client.open(link_of(mails, "countess@example.com"))
    assert "Incorrect email or password" in client.submit("/confirm-email", password="wrong").text
    assert not client.is_signed_in()
    client.submit("/confirm-email", password=PASSWORD)
    assert client.is_signed_in()
    assert "New email address confirmed." in client.page.text
    other = PageClient(app)
    other.open(back)
    seen = other.submit("/undo-email")
    assert "Your old email address was restored" in seen.text
    assert not client.is_signed_in()
    assert link_of(mails, ada.email).startswith("/reset")
    other.open(back)
    other.submit("/undo-email")
    assert other.status == 400


def test_new_email_address_is_confirmed_after_sign_in(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post("/account/email", 202, json={"email": "countess@example.com"})
    client.open(link_of(mails, "countess@example.com"))
    [sign_in] = [link for link in client.page.links if link.startswith("/sign-in?next=")]
    client.sign_in(ada.email, PASSWORD, sign_in)
    assert client.path.startswith("/confirm-email?token=")
    assert "Your password" not in client.page.text
    client.submit("/confirm-email")
    assert "New email address confirmed." in client.page.text


def test_account_is_restored_with_the_link(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().delete("/account", 202, json={"password": PASSWORD})
    client.open(link_of(mails, ada.email))
    client.submit("/keep-account")
    assert "Your account was restored." in client.page.text
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert client.is_signed_in()


def test_opening_emailed_links_changes_nothing(
    app: Flask, client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    """Email scanners open links."""
    register(client)
    ada.api().post("/account/email", 202, json={"email": "c@example.com", "password": PASSWORD})
    client.open("/forgot")
    client.submit("/forgot", email=ada.email)
    links = {link_of(mails, each) for each in (GRACE, ada.email, "c@example.com")}
    before = rows(app)
    for link in links:
        for method in ("GET", "HEAD"):
            answer = client.client.open(link, method=method, base_url=HOST, headers=SAME_ORIGIN)
            assert answer.status_code == 200
    assert rows(app) == before
    assert {link.partition("?")[0] for link in links} == {"/verify", "/reset", "/confirm-email"}


def test_emailed_links_use_the_paths_in_the_settings(make_app: MakeApp, mails: MailOutbox) -> None:
    paths = {
        "PASSWORD_RECOVERY_PATH": "/lost-password",
        "PASSWORD_RESET_PATH": "/new-password",
        "VERIFICATION_PATH": "/welcome",
        "EMAIL_CHANGE_PATH": "/new-address",
        "EMAIL_UNDO_PATH": "/old-address",
        "ACCOUNT_RESTORE_PATH": "/stay",
    }
    app = make_app(**{f"AUTH__{name}": path for name, path in paths.items()})
    client = PageClient(app)
    for path in paths.values():
        client.open(f"{path}?token=of-another")
        assert client.status == 200, path
    seen = client.open("/welcome?token=of-another")
    assert [form.action for form in seen.forms] == ["/verify"]
    client.submit("/verify")
    assert client.status == 400
