"""Signing in on the pages through a provider that nobody here wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.testing.clock import SteppingClock

from ..auth.factors import enrolled
from ..conftest import MakePerson, only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.oidc.browser import Browser
from ..rigs.oidc.visitor import PAGE_REDIRECT_URI
from .guest import Guest

pytestmark = only_on("sqlite")
CALLBACK = "/sign-in/provider/callback"
MakeIdpApp = Callable[..., Flask]


@pytest.fixture
def app(make_idp_app: MakeIdpApp) -> Flask:
    return make_idp_app(CORE__PUBLIC_URL=HOST, AUTH__MFA="optional")


@pytest.fixture
def guest(app: Flask) -> Guest:
    return Guest(app)


def come_back(guest: Guest, beginning: str = "/sign-in/provider") -> None:
    """By way of the provider's own page."""
    answer = guest.client.get(beginning, base_url=HOST, headers=SAME_ORIGIN)
    assert answer.status_code == 302, answer.text
    back = Browser().sign_in(answer.headers["Location"], "ada", PAGE_REDIRECT_URI)
    # Led here by another site's page.
    guest.open(CALLBACK, query_string=back, headers={"Sec-Fetch-Site": "cross-site"})


def test_who_comes_back_is_in_after_one_press(guest: Guest, person: MakePerson) -> None:
    person("ada")
    assert "/sign-in/provider" in guest.open("/sign-in").links
    come_back(guest, "/sign-in/provider?next=/confirm")
    assert (guest.status, guest.is_in()) == (200, False)
    guest.press(CALLBACK)
    assert (guest.path, guest.is_in()) == ("/confirm", True)


def test_what_was_sent_once_counts_no_more(guest: Guest, person: MakePerson) -> None:
    person("ada")
    come_back(guest)
    page = guest.answer
    guest.press(CALLBACK)
    guest.open("/dashboard")
    guest.press("/sign-out")
    guest.answer = page
    seen = guest.press(CALLBACK)
    assert (guest.status, guest.is_in()) == (400, False)
    assert "This sign-in was started in another browser" in seen.text


def test_what_another_browser_began_counts_in_none(
    app: Flask, guest: Guest, person: MakePerson
) -> None:
    person("ada")
    come_back(guest)
    other = Guest(app)
    other.answer = guest.answer
    other.press(CALLBACK)
    assert (other.status, other.is_in()) == (400, False)


def test_a_second_factor_is_asked_for(
    guest: Guest, person: MakePerson, clock: SteppingClock
) -> None:
    ada = person("ada")
    phone = enrolled(ada, clock).phone
    come_back(guest, "/sign-in/provider?next=/confirm")
    seen = guest.press(CALLBACK)
    assert ("One more step" in seen.text, guest.is_in()) == (True, False)
    guest.press("/sign-in/second-step", otp=phone.next_code())
    assert (guest.path, guest.is_in()) == ("/confirm", True)


def test_who_has_no_account_is_told(guest: Guest) -> None:
    come_back(guest)
    seen = guest.press(CALLBACK)
    assert guest.status == 400
    assert "No account has this email address." in seen.text


def test_who_stops_there_is_told(guest: Guest) -> None:
    seen = guest.open(f"{CALLBACK}?error=access_denied&state=x")
    assert "did not sign you in" in seen.text
    assert "/sign-in/provider" in seen.links


def test_where_the_provider_may_not_lead_back_nobody_is_sent_there(
    make_idp_app: MakeIdpApp, capfd: pytest.CaptureFixture[str]
) -> None:
    guest = Guest(make_idp_app(CORE__CLIENT_HOST="https://client.example"))
    guest.open("/sign-in/provider")
    assert guest.status == 503
    assert "IDP_ALLOWED_REDIRECT_URIS" in capfd.readouterr().err


def test_where_it_is_off_there_is_no_such_page(make_app: Callable[..., Flask]) -> None:
    guest = Guest(make_app())
    for path in ("/sign-in/provider", CALLBACK):
        guest.open(path)
        assert guest.status == 403
