"""Sign-in through identity providers in a real browser, with pages of the providers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from ..conftest import only_on
from ..rigs.backends import free_port
from ..rigs.console.cells import Cell
from ..rigs.console.site import Site, Visitor, Visitors
from ..rigs.oidc.fake_fixtures import client_of, client_of_apple
from ..rigs.oidc.fakes import Apple, Fake, GitHub, Google, Microsoft
from .conftest import OpenSite

pytestmark = only_on("sqlite")
ACME = {
    "title": "Acme Research & Development",
    "metadata_url": "https://idp.example.com/.well-known/openid-configuration",
}
APPLE = "/sign-in/provider/apple/callback"


@pytest.fixture
def site(
    open_site: OpenSite,
    google: Google,
    microsoft: Microsoft,
    github: GitHub,
    apple: Apple,
    tmp_path: Path,
) -> Site:
    """A service with five providers. Links must be confirmed."""
    port = free_port()
    base = f"http://localhost:{port}"
    providers = {
        "acme": client_of("oidc", **ACME),
        "google": client_of("google"),
        "microsoft": client_of("microsoft", tenant="common"),
        "github": client_of("github"),
        "apple": client_of_apple(apple, tmp_path, redirect_uri=f"{base}{APPLE}"),
    }
    settings = {
        "CORE__PUBLIC_URL": base,
        "AUTH__IDP_LINKING": "confirm",
        "AUTH__ALLOW_IDP_OAUTH_SIGNUP": "true",
    }
    return open_site(port=port, AUTH__PROVIDERS=json.dumps(providers), **settings)


@pytest.fixture
def visitors(browser: Browser, site: Site, cell: Cell) -> Iterator[Visitors]:
    visitors = Visitors(browser, site, cell)
    yield visitors
    visitors.leave()


def proceed(visitor: Visitor, button: str = "Continue") -> None:
    """Without a script, the user sends the form of the callback page."""
    if not visitor.cell.script:
        visitor.page.get_by_role("button", name=button, exact=True).click()


def consent(visitor: Visitor, fake: Fake, title: str) -> None:
    """Open the provider, consent there, and return."""
    visitor.faults.allow(fake.url)
    # The provider's page has no icon.
    visitor.faults.expect(401, 404)
    visitor.page.get_by_role("link", name=f"Continue with {title}").click()
    visitor.page.get_by_text("Consent").click()


def heading(page: Page, text: str) -> None:
    page.get_by_role("heading", level=1, name=text).wait_for()


def test_pages_show_a_button_for_each_provider(visitors: Visitors) -> None:
    her = visitors()
    titles = (ACME["title"], "Google", "Microsoft", "GitHub", "Apple")
    for path in ("/sign-in", "/register"):
        her.open(path)
        her.settle()
        links = her.page.get_by_role("link", name="Continue with").all_inner_texts()
        assert links == [f"Continue with {title}" for title in titles]
        her.picture(f"providers{path.replace('/', '-')}")


def test_owner_signs_in_and_confirms_the_link(
    site: Site, visitors: Visitors, google: Google
) -> None:
    ada, her = site.person("ada"), visitors()
    google.user = {"sub": "g-1", "email": ada.email, "email_verified": True}
    her.faults.expect(403)
    her.open("/sign-in")
    consent(her, google, "Google")
    proceed(her)
    page = her.page
    page.get_by_text("An account with this email address exists").wait_for()
    assert "token" not in page.url
    her.picture("link-sign-in")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    heading(page, "Link your account with Google?")
    her.picture("link-confirm")
    page.get_by_role("button", name="Link account").click()
    page.get_by_text("You can now sign in with Google.").wait_for()
    heading(page, "Security")
    her.picture("link-security")


def test_user_signs_in_with_the_form_of_apple(site: Site, visitors: Visitors, apple: Apple) -> None:
    """The form of another site brings no cookie; the page that it redirects to has the cookie."""
    her = visitors()
    her.faults.expect(400)
    apple.user = {"sub": "a-1", "email": "grace@example.com", "email_verified": "false"}
    her.open("/sign-in")
    consent(her, apple, "Apple")
    proceed(her)
    her.page.get_by_text("The identity provider has not verified your email address").wait_for()
    assert "code=" not in her.page.url
