"""Sign-in through identity providers in a real browser, with pages of the providers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from app.accounts.service import Accounts
from app.auth.idp.identities import Identities
from app.auth.idp.providers import Providers
from app.core.context import service
from app.core.db.transaction import transaction

from ..conftest import only_on
from ..rigs.axe import serious_violations
from ..rigs.backends import free_port
from ..rigs.console.cells import Cell
from ..rigs.console.keyboard import tab_through
from ..rigs.console.overlaps import overlaps
from ..rigs.console.site import Site, Visitor, Visitors
from ..rigs.console.structure import structure_errors
from ..rigs.console.wire import FOLLOWING_PAGE, weighed
from ..rigs.oidc.campus import Campus
from ..rigs.oidc.fake_fixtures import client_of, client_of_apple
from ..rigs.oidc.fakes import Apple, Fake, GitHub, Google, Microsoft
from .conftest import OpenSite

pytestmark = only_on("sqlite")
ACME = "Acme Research & Development"
GROUPS = {"groups_claim": "groups", "roles": {"admins": "admin"}}
APPLE = "/sign-in/provider/apple/callback"


@pytest.fixture
def site(
    open_site: OpenSite,
    google: Google,
    microsoft: Microsoft,
    github: GitHub,
    apple: Apple,
    campus: Campus,
    tmp_path: Path,
) -> Site:
    """A service with five providers. Links must be confirmed."""
    port = free_port()
    base = f"http://localhost:{port}"
    providers = {
        "acme": {**campus.settings, "title": ACME, **GROUPS},
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
    visitor.faults.expect(401, 403)
    visitor.page.get_by_role("link", name=f"Continue with {title}").click()
    visitor.page.get_by_text("Consent").click()


def heading(page: Page, text: str) -> None:
    page.get_by_role("heading", level=1, name=text).wait_for()


def check(visitor: Visitor, name: str) -> None:
    """Check the page as test_pages.py does, and take a screenshot in both themes."""
    visitor.settle()
    page, cell = visitor.page, visitor.cell
    found = structure_errors(page, visitor.site.app) + overlaps(page)
    for each in (cell.in_the_other_theme, cell):
        visitor.meet(each)
        visitor.picture(name)
        found += serious_violations(page) if cell.script else []
    assert found + tab_through(page) == []


def test_pages_show_a_button_for_each_provider(visitors: Visitors) -> None:
    her = visitors()
    titles = (ACME, "Google", "Microsoft", "GitHub", "Apple")
    for path in ("/sign-in", "/register"):
        her.open(path)
        her.settle()
        links = her.page.get_by_role("link", name="Continue with").all_inner_texts()
        assert links == [f"Continue with {title}" for title in titles]
        check(her, f"providers{path.replace('/', '-')}")


def test_owner_signs_in_and_confirms_the_link(
    site: Site, visitors: Visitors, google: Google
) -> None:
    ada, her = site.person("ada"), visitors()
    google.user = {"sub": "g-1", "email": ada.email, "email_verified": True}
    her.open("/sign-in")
    consent(her, google, "Google")
    proceed(her)
    page = her.page
    page.get_by_text("An account with this email address exists").wait_for()
    assert "token" not in page.url
    check(her, "link-sign-in")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    heading(page, "Link your account with Google?")
    check(her, "link-confirm")
    with weighed(page) as weight:
        page.reload()
    assert weight.total <= FOLLOWING_PAGE, weight
    page.get_by_role("button", name="Link account").click()
    page.get_by_text("You can now sign in with Google.").wait_for()
    heading(page, "Identity providers")


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


def test_owner_adds_and_removes_an_identity(
    site: Site, visitors: Visitors, google: Google, github: GitHub
) -> None:
    her = visitors(site.person("ada"))
    page = her.page
    for fake in (google, github):
        her.faults.allow(fake.url)
    her.faults.expect(401)
    google.user = {"sub": "g-1", "email": "ada.lovelace@gmail.com", "email_verified": True}
    github.user = {"id": 1, "login": "ada", "emails": []}
    her.open("/security")
    check(her, "security-none")
    page.get_by_role("link", name="Add: Identity providers").click()
    for title in ("Google", "GitHub"):
        page.get_by_role("button", name=f"Add {title}").click()
        # The page in between opens the provider by itself, also without a script.
        page.get_by_text("Consent").click()
        proceed(her)
        page.get_by_text(f"You can now sign in with {title}.").wait_for()
    check(her, "identities")
    her.open("/security")
    page.get_by_text("Google · GitHub").wait_for()
    check(her, "security-identities")
    page.get_by_role("link", name="Manage: Identity providers").click()
    line = page.locator("li", has_text="ada.lovelace@gmail.com")
    line.get_by_text("Remove", exact=True).first.click()
    her.picture("identities-remove")
    page.get_by_role("button", name="Remove").locator("visible=true").last.click()
    page.get_by_text("You can no longer sign in with Google.").wait_for()
    page.get_by_role("button", name="Add Google").wait_for()


def link(email: str) -> None:
    """Link the account with the user of the campus."""
    accounts = service(Accounts)
    with transaction(accounts.session):
        account, provider = accounts.find(email), service(Providers).find("acme")
        assert account is not None
        service(Identities).link(account, provider, provider.issuer, "c-1", email)


def test_user_with_groups_signs_in_and_out_at_the_provider(
    site: Site, visitors: Visitors, campus: Campus
) -> None:
    ada, root = site.person("ada", role="user"), site.person("root", role="root")
    with site.app.app_context():
        link(ada.email)
    her = visitors()
    campus.user = {"sub": "c-1", "email": ada.email, "groups": ["admins"]}
    her.open("/sign-in")
    consent(her, campus, ACME)
    proceed(her)
    her.page.wait_for_url("**/dashboard")
    his = visitors(root)
    his.open(f"/admin/accounts/{ada.id}")
    his.page.get_by_text(f"By the provider {ACME}.").wait_for()
    check(his, "account-by-provider")
    her.page.locator("summary", has_text=ada.email).first.click()
    her.page.get_by_role("button", name="Sign out").click()
    heading(her.page, "You are signed out")
    check(her, "signed-out")
    out = her.page.get_by_role("link", name=f"Also sign out of {ACME}")
    assert str(out.get_attribute("href")).startswith(campus.url)


def test_new_user_of_microsoft_enters_the_emailed_code(
    site: Site, visitors: Visitors, microsoft: Microsoft
) -> None:
    her = visitors()
    microsoft.user = {"sub": "m-1", "email": site.person("ada").email}
    her.open("/sign-in")
    consent(her, microsoft, "Microsoft")
    proceed(her)
    heading(her.page, "Check your email")
    assert "code=" not in her.page.url or not her.cell.script
    check(her, "provider-code")
    her.faults.expect(400)
    her.page.get_by_label("Code from the email").fill("00000000")
    her.page.get_by_role("button", name="Sign in").click()
    her.page.get_by_text("This code or link is invalid").wait_for()
