"""A form that was sent after its session had ended comes back filled in, to its account alone."""

from __future__ import annotations

import pytest
from flask import Flask

from app.console import kept_forms
from app.core.context import current_frontdesk
from app.core.keystore import KeystoreUnavailable
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import HOST
from .page_client import PageClient

pytestmark = only_on("sqlite")
KEPT = "You were signed out. Sign in to continue; your changes are kept."
LOST = "You were signed out. Sign in to continue. Your changes could not be kept."
RESTORED = "You were signed out before your changes were saved."
DETAILS = {"phone": "+49 30 901820", "locale": "", "time_zone": "Europe/London"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app()


@pytest.fixture
def client(app: Flask, ada: Person) -> PageClient:
    """Ada on her account page, after her session ended in another browser."""
    client = PageClient(app)
    client.sign_in(ada.email, ada.password)
    client.open("/account")
    ada.api().delete("/logout")
    return client


def send(client: PageClient, action: str = "/account", **fields: str) -> str:
    headers = {"Referer": f"{HOST}{client.path}"}
    return client._ask("POST", action, data=fields, headers=headers).text


def stored(app: Flask) -> str:
    """Return all kept forms of the shared state store as text."""
    with app.app_context():
        entries = vars(current_frontdesk.keystore)
    return str([value for value in entries.values() if "kept-form:" in str(value)])


def test_fields_come_back_after_sign_in_and_are_not_sent(
    app: Flask, client: PageClient, ada: Person
) -> None:
    assert KEPT in send(client, **DETAILS)
    assert client.path == "/sign-in?next=/account"
    assert KEPT in client.submit("/sign-in", email=ada.email, password="not this one").text
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert client.path == "/account"
    page = client.answer.text
    assert RESTORED in client.page.text
    assert 'value="+49 30 901820"' in page
    assert "<option selected>Europe/London<" in page
    assert "data-unsaved" in page
    assert ada.api().get("/account").json["phone"] is None
    client.submit("/account", **DETAILS)
    assert ada.api().get("/account").json["phone"] == "+4930901820"


def test_fields_are_shown_once(app: Flask, client: PageClient, ada: Person) -> None:
    send(client, **DETAILS)
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert RESTORED in client.page.text
    assert RESTORED not in client.open("/account").text
    assert "+49" not in stored(app)


def test_cleared_field_comes_back_empty(client: PageClient, ada: Person) -> None:
    ada.api().patch("/account", json={"phone": "+4930901820"})
    client.sign_in(ada.email, ada.password)
    client.open("/account")
    ada.api().delete("/logout")
    assert KEPT in send(client, phone="", time_zone="UTC")
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert "4930901820" not in client.answer.text


def test_other_account_gets_no_fields_and_deletes_them(
    app: Flask, client: PageClient, person: MakePerson
) -> None:
    bob = person("bob")
    send(client, **DETAILS)
    assert "+49" in stored(app)
    client.submit("/sign-in", email=bob.email, password=bob.password)
    assert client.path == "/account"
    assert RESTORED not in client.page.text
    assert "+49" not in client.answer.text
    assert "+49" not in stored(app)
    assert client.client.get_cookie("__Host-fd-kept", "localhost", "/") is None


def test_other_browser_gets_no_fields(app: Flask, client: PageClient, ada: Person) -> None:
    send(client, **DETAILS)
    other = PageClient(app)
    other.sign_in(ada.email, ada.password)
    assert "+49" not in other.open("/account").text


def test_only_named_fields_are_stored(app: Flask, client: PageClient) -> None:
    secrets = {
        name: f"secret of {name}"
        for name in (
            *("password", "new_password", "current_password", "otp", "code", "recovery_code"),
            *("token", "mfa_token", "credential", "login_id", "secret", "uri", "invitation", "pin"),
            *("card_number", "cvc", "iban", "ssn", "answer"),
        )
    }
    send(client, "/account", phone="+49", postal_code="D-10115", **secrets)
    found = stored(app)
    assert "+49" in found
    assert "D-10115" in found
    assert "secret of" not in found


@pytest.mark.parametrize("fields", [{}, {"new_password": "otters like cold rivers"}])
def test_form_without_kept_fields_says_only_that_the_session_ended(
    client: PageClient, fields: dict[str, str]
) -> None:
    text = send(client, "/security/password", **fields)
    assert "You were signed out. Sign in to continue." in text
    assert "changes" not in text
    assert "You were signed out" not in client.open("/sign-in").text


def test_page_of_ended_session_says_so(app: Flask, client: PageClient) -> None:
    assert "You were signed out. Sign in to continue." in client.open("/profile").text
    assert "You were signed out" not in PageClient(app).open("/profile").text


def test_too_large_form_says_that_it_is_lost(app: Flask, client: PageClient) -> None:
    assert LOST in send(client, phone="x" * (kept_forms.MAX_SIZE + 1))
    assert "xxx" not in stored(app)
    client.open("/account")
    assert LOST in send(client, phone="x" * (kept_forms.MAX_BODY + 1))


def test_anonymous_form_is_not_stored(app: Flask) -> None:
    client = PageClient(app)
    client.path = "/account"
    assert LOST in send(client, **DETAILS)
    assert "+49" not in stored(app)


def test_one_account_stores_a_bounded_number_of_forms(app: Flask, client: PageClient) -> None:
    for _ in range(kept_forms.MAX_FORMS):
        client.path = "/account"
        assert KEPT in send(client, **DETAILS)
    client.path = "/account"
    assert LOST in send(client, **DETAILS)


def test_kept_form_expires(client: PageClient, ada: Person, clock: SteppingClock) -> None:
    send(client, **DETAILS)
    clock.step(seconds=kept_forms.SECONDS + 1)
    assert "You were signed out" not in client.open("/sign-in?next=/account").text
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert client.path == "/account"
    assert "+49" not in client.answer.text


def test_unavailable_store_is_said(
    app: Flask, client: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_args: object, **_more: object) -> None:
        raise KeystoreUnavailable

    with app.app_context():
        keystore = current_frontdesk.keystore
    for name in ("get", "put", "count", "take"):
        monkeypatch.setattr(keystore, name, unavailable)
    assert LOST in send(client, **DETAILS)


def test_draft_of_a_broadcast_comes_back(app: Flask, person: MakePerson) -> None:
    grace = person("grace", role="admin")
    client = PageClient(app)
    client.sign_in(grace.email, grace.password)
    client.open("/admin/broadcasts/new")
    grace.api().delete("/logout")
    draft = {"data.title": "Moving day", "data.message": "On <Friday>", "step": "check"}
    text = send(client, "/admin/broadcasts/new", **draft)
    assert KEPT in text
    client.submit("/sign-in", email=grace.email, password=grace.password)
    assert client.path == "/admin/broadcasts/new"
    assert 'value="Moving day"' in client.answer.text
    assert "On &lt;Friday&gt;" in client.answer.text


def test_form_is_kept_after_a_password_change_elsewhere(app: Flask, person: MakePerson) -> None:
    eve = person("eve")
    client = PageClient(app)
    client.sign_in(eve.email, eve.password)
    client.open("/account")
    eve.change(password="another long one")
    assert KEPT in send(client, **DETAILS)
    client.submit("/sign-in", email=eve.email, password="another long one")
    assert 'value="+49 30 901820"' in client.answer.text


def test_form_comes_back_after_re_authentication(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional")
    olga = person("olga", into=app)
    client = PageClient(app)
    client.sign_in(olga.email, olga.password)
    client.open("/security/factors/app")
    clock.step(minutes=16)
    secrets = {"key": "a key", "otp": "123456"}
    send(client, "/security/factors/app/set-up", name="Blue phone", **secrets)
    assert client.path == "/confirm?next=/security/factors/app"
    assert "Blue phone" in stored(app)
    assert not [value for value in secrets.values() if value in stored(app)]
    client.submit("/confirm", password=olga.password)
    assert client.path == "/security/factors/app"
    assert "Your changes are not saved yet." in client.page.text
    assert "You were signed out" not in client.page.text
    assert 'value="Blue phone"' in client.answer.text
    assert "Blue phone" not in stored(app)
