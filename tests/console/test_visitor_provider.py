"""Sign-in on the pages through an independent identity provider."""

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
from .page_client import PageClient

pytestmark = only_on("sqlite")
CALLBACK = "/sign-in/provider/callback"
MakeIdpApp = Callable[..., Flask]


@pytest.fixture
def app(make_idp_app: MakeIdpApp) -> Flask:
    return make_idp_app(CORE__PUBLIC_URL=HOST, AUTH__MFA="optional")


@pytest.fixture
def client(app: Flask) -> PageClient:
    return PageClient(app)


def come_back(client: PageClient, beginning: str = "/sign-in/provider") -> None:
    """Sign in at the provider, and open the callback page."""
    answer = client.client.get(beginning, base_url=HOST, headers=SAME_ORIGIN)
    assert answer.status_code == 302, answer.text
    back = Browser().sign_in(answer.headers["Location"], "ada", PAGE_REDIRECT_URI)
    # The redirect comes from another site.
    client.open(CALLBACK, query_string=back, headers={"Sec-Fetch-Site": "cross-site"})


def test_callback_signs_in_after_one_press(client: PageClient, person: MakePerson) -> None:
    person("ada")
    assert "/sign-in/provider" in client.open("/sign-in").links
    come_back(client, "/sign-in/provider?next=/confirm")
    assert (client.status, client.is_signed_in()) == (200, False)
    client.submit(CALLBACK)
    assert (client.path, client.is_signed_in()) == ("/confirm", True)


def test_provider_response_is_single_use(client: PageClient, person: MakePerson) -> None:
    person("ada")
    come_back(client)
    page = client.answer
    client.submit(CALLBACK)
    client.open("/dashboard")
    client.submit("/sign-out")
    client.answer = page
    seen = client.submit(CALLBACK)
    assert (client.status, client.is_signed_in()) == (400, False)
    assert "This sign-in was started in another browser" in seen.text


def test_provider_response_of_another_browser_is_rejected(
    app: Flask, client: PageClient, person: MakePerson
) -> None:
    person("ada")
    come_back(client)
    other = PageClient(app)
    other.answer = client.answer
    other.submit(CALLBACK)
    assert (other.status, other.is_signed_in()) == (400, False)


def test_second_factor_is_required_after_the_provider(
    client: PageClient, person: MakePerson, clock: SteppingClock
) -> None:
    ada = person("ada")
    phone = enrolled(ada, clock).phone
    come_back(client, "/sign-in/provider?next=/confirm")
    seen = client.submit(CALLBACK)
    assert ("One more step" in seen.text, client.is_signed_in()) == (True, False)
    client.submit("/sign-in/second-step", otp=phone.next_code())
    assert (client.path, client.is_signed_in()) == ("/confirm", True)


def test_missing_account_is_reported(client: PageClient) -> None:
    come_back(client)
    seen = client.submit(CALLBACK)
    assert client.status == 400
    assert "No account has this email address." in seen.text


def test_canceled_sign_in_is_reported(client: PageClient) -> None:
    seen = client.open(f"{CALLBACK}?error=access_denied&state=x")
    assert "did not sign you in" in seen.text
    assert "/sign-in/provider" in seen.links


def test_missing_redirect_uri_makes_the_sign_in_unavailable(
    make_idp_app: MakeIdpApp, capfd: pytest.CaptureFixture[str]
) -> None:
    client = PageClient(make_idp_app(CORE__CLIENT_HOST="https://client.example"))
    client.open("/sign-in/provider")
    assert client.status == 503
    assert "IDP_ALLOWED_REDIRECT_URIS" in capfd.readouterr().err


def test_provider_pages_do_not_exist_without_the_provider(make_app: Callable[..., Flask]) -> None:
    client = PageClient(make_app())
    for path in ("/sign-in/provider", CALLBACK):
        client.open(path)
        assert client.status == 404


def test_owner_links_the_provider_of_the_contract(client: PageClient, person: MakePerson) -> None:
    """The provider returns to the same page as after a sign-in."""
    grace, page = person("grace"), "/security/identities"
    client.sign_in(grace.email, grace.password, f"/sign-in?next={page}")
    seen = client.submit(f"{page}/default/add")
    [url] = [link for link in seen.links if "redirect_uri=" in link]
    client.open(CALLBACK, query_string=Browser().sign_in(url, "ada", PAGE_REDIRECT_URI))
    client.submit(f"{page}/default/finish")
    assert client.path == page
    assert "ada@example.com" in client.page.text
