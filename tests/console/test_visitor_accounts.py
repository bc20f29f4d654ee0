"""Registration, password reset and the pages of other emailed links."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
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
        AUTH__LOGIN_BY_CODE="on",
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
    client.submit("/verify")
    assert client.path == "/dashboard"
    assert "Email address confirmed." in client.page.text
    assert client.is_signed_in()


def test_verification_in_another_browser_leads_to_sign_in(
    app: Flask, client: PageClient, mails: MailOutbox
) -> None:
    register(client)
    other = PageClient(app)
    other.open(link_of(mails, GRACE))
    other.submit("/verify")
    assert (other.path, other.is_signed_in()) == ("/sign-in", False)
    assert "Email address confirmed." in other.page.text
    assert email_field(other, "/sign-in") == GRACE
    other.submit("/sign-in", password=NEW)
    assert other.is_signed_in()


def test_verification_signs_in_only_the_browser_of_the_current_password(
    app: Flask, client: PageClient, mails: MailOutbox, clock: SteppingClock
) -> None:
    register(client)
    clock.step(seconds=61)
    mallory = PageClient(app)
    register(mallory, password="the password of another person")
    link = link_of(mails, GRACE)
    client.open(link)
    client.submit("/verify")
    assert (client.path, client.is_signed_in()) == ("/sign-in", False)


def test_ignored_registration_does_not_sign_in(
    app: Flask, client: PageClient, mails: MailOutbox
) -> None:
    """A second registration within a minute is ignored: the password is of the first."""
    register(PageClient(app), password="the password of another person")
    register(client)
    client.open(link_of(mails, GRACE))
    client.submit("/verify")
    assert not client.is_signed_in()


def test_verification_signs_in_within_an_hour_and_once(
    app: Flask, client: PageClient, mails: MailOutbox, clock: SteppingClock
) -> None:
    register(client)
    link = link_of(mails, GRACE)
    clock.step(seconds=3601)
    client.open(link)
    client.submit("/verify")
    assert not client.is_signed_in()
    register(client, "eve@example.com")
    link = link_of(mails, "eve@example.com")
    client.open(link)
    client.submit("/verify")
    assert client.is_signed_in()
    client.submit("/sign-out")
    client.open(link)
    client.submit("/verify")
    assert not client.is_signed_in()


def test_verification_asks_for_a_required_second_factor(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(CORE__CLIENT_HOST=HOST, AUTH__REGISTRATION="open", AUTH__MFA="required")
    client = PageClient(app)
    register(client)
    client.open(link_of(mails, GRACE))
    assert "Protect your account" in client.submit("/verify").text
    assert not client.is_signed_in()


def test_registration_cookie_does_not_show_whether_the_address_is_known(
    app: Flask, client: PageClient, ada: Person
) -> None:
    for email in (GRACE, ada.email):
        register(client, email)
        [cookie] = [
            each for each in client.answer.headers.getlist("Set-Cookie") if "registered" in each
        ]
        assert re.fullmatch(
            r"__Host-fd-registered=[\w-]{43}; .*Max-Age=3600; Secure; HttpOnly; .*", cookie
        )


def email_field(client: PageClient, action: str) -> str:
    [form] = [form for form in client.page.forms if form.action == action]
    return form.fields["email"]


@pytest.mark.parametrize(
    ("to", "path", "action"),
    [("forgot", "/forgot", "/forgot"), ("code", "/sign-in/code?next=/profile", "/sign-in/code")],
)
def test_email_typed_at_sign_in_is_carried(
    client: PageClient, to: str, path: str, action: str
) -> None:
    client.open("/sign-in?next=/profile")
    assert f'name="to" value="{to}" formaction="/sign-in/other"' in client.answer.text
    [form] = [form for form in client.page.forms if form.action == "/sign-in"]
    fields = {**form.fields, "email": GRACE, "password": "half a pass", "to": to}
    client._ask("POST", "/sign-in/other", data=fields)
    assert client.path == path
    assert email_field(client, action) == GRACE
    assert "half a pass" not in client.answer.text
    client.open(path)
    assert email_field(client, action) == ""


def test_registration_is_confirmed_with_the_code(client: PageClient, mails: MailOutbox) -> None:
    register(client)
    client.submit("/verify", token="00000000")
    assert client.status == 400
    client.submit("/verify", token=code_of(mails, GRACE))
    assert client.path == "/confirm"
    assert client.is_signed_in()


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
    assert "This link has expired" in other.open(back).text
    other._ask("POST", "/undo-email", data={"token": back.partition("=")[2]})
    assert other.status == 400


def test_new_email_address_is_confirmed_after_sign_in(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post("/account/email", 202, json={"email": "countess@example.com"})
    client.open(link_of(mails, "countess@example.com"))
    client.submit("/confirm-email")
    # Logs and the history contain URLs, so the token is in none but the emailed one.
    assert client.path == "/sign-in?next=/confirm-email"
    client.submit("/sign-in", email=ada.email, password=PASSWORD)
    assert client.path == "/confirm-email"
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
    seen = client.open("/welcome")
    assert [form.action for form in seen.forms] == ["/verify"]
    client.submit("/verify", email=GRACE, token="of-another")
    assert client.status == 400


@pytest.mark.parametrize("path", ["/verify", "/confirm-email", "/undo-email", "/keep-account"])
@pytest.mark.parametrize("token", ["of-another", "12345678", "\N{GRINNING FACE}" * 40])
def test_invalid_link_is_told_at_once(client: PageClient, path: str, token: str) -> None:
    seen = client.open(path, query_string={"token": token})
    assert (client.status, "This link has expired" in seen.text) == (200, True)
    assert seen.forms == []
    client._ask("POST", path, data={"token": token})
    assert client.status in (400, 422)


def test_replaced_link_is_told_at_once(
    client: PageClient, mails: MailOutbox, clock: SteppingClock
) -> None:
    register(client)
    before = link_of(mails, GRACE)
    clock.step(seconds=61)
    register(client, password="another one that is long")
    assert "This link has expired" in client.open(before).text
    assert "Go to sign-in" in client.page.text
    assert "This link has expired" not in client.open(link_of(mails, GRACE)).text


def test_used_link_to_a_new_address_is_told_at_once(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().post("/account/email", 202, json={"email": "c@example.com", "password": PASSWORD})
    link = link_of(mails, "c@example.com")
    client.open(link)
    client.submit("/confirm-email", password=PASSWORD)
    seen = client.open(link)
    assert "This link has expired" in seen.text
    assert "/security/email" in seen.links


def test_link_of_another_account_is_told_at_once(
    client: PageClient, ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    ada.api().post("/account/email", 202, json={"email": "c@example.com", "password": PASSWORD})
    bob = person("bob")
    client.sign_in(bob.email, bob.password)
    seen = client.open(link_of(mails, "c@example.com"))
    assert "This link is for another account" in seen.text
    client.submit("/sign-out")
    assert not client.is_signed_in()


def test_link_to_a_restored_account_is_told_at_once(
    client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    ada.api().delete("/account", 202, json={"password": PASSWORD})
    link = link_of(mails, ada.email)
    client.open(link)
    client.submit("/keep-account")
    assert "This link has expired" in client.open(link).text
