"""The visitor pages in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page

from app.testing.clock import SteppingClock

from ..auth.factors import Phone
from ..conftest import only_on
from ..rigs.console.cells import WIDE, Cell, in_cells
from ..rigs.console.site import Site, Visitor, Visitors
from ..rigs.virtual_authenticator import Device
from .conftest import OpenSite
from .page_client import code_of, link_of

pytestmark = only_on("sqlite")
NEW = "otters like cold rivers"
GRACE = "grace@example.com"


def sign_in(page: Page, email: str, password: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def is_headed(page: Page, words: str) -> None:
    page.get_by_role("heading", level=1, name=words).wait_for()


def is_in(page: Page) -> None:
    page.wait_for_url("**/dashboard")


def test_visitor_registers_and_signs_in(site: Site, visitors: Visitors) -> None:
    grace = visitors()
    page = grace.page
    grace.open("/sign-in")
    page.get_by_role("link", name="Create account").click()
    is_headed(page, "Create account")
    page.get_by_label("Email").fill(GRACE)
    page.get_by_label("Password", exact=True).fill("password1")
    grace.faults.expect(422)
    page.get_by_role("button", name="Create account").click()
    page.get_by_text("This password is too common.").wait_for()
    assert page.get_by_label("Email").input_value() == GRACE
    page.get_by_label("Password", exact=True).fill(NEW)
    page.get_by_role("button", name="Create account").click()
    is_headed(page, "Check your email")
    grace.picture("register-check-mail")
    grace.open(link_of(site.mails, GRACE))
    is_headed(page, "Confirm your email address")
    grace.settle()
    # The script removes the single-use token from the address bar.
    assert ("token=" in page.url) is not grace.cell.script
    page.get_by_role("button", name="Confirm email address").click()
    is_in(page)
    page.get_by_text("Email address confirmed.").wait_for()


def test_visitor_resets_the_password(site: Site, visitors: Visitors) -> None:
    ada, her = site.person("ada"), visitors()
    page = her.page
    her.open("/sign-in")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_role("button", name="Forgot your password?").click()
    is_headed(page, "Forgot your password?")
    assert page.url.endswith("/forgot")
    assert page.get_by_label("Email").input_value() == ada.email
    page.get_by_role("button", name="Send email").click()
    is_headed(page, "Check your email")
    her.faults.expect(400)
    page.get_by_label("Code from the email").fill("00000000")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("This code or link is invalid").wait_for()
    page.get_by_label("Code from the email").fill(code_of(site.mails, ada.email))
    page.get_by_role("button", name="Continue").click()
    is_headed(page, "Choose a new password")
    her.picture("reset-by-code")
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change password").click()
    page.get_by_text("Password changed.").wait_for()
    sign_in(page, ada.email, NEW)
    is_in(page)


def test_user_signs_in_with_an_emailed_code(site: Site, visitors: Visitors) -> None:
    ada, her = site.person("ada"), visitors()
    page = her.page
    her.open("/sign-in?next=/confirm")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_role("button", name="Email me a code").click()
    is_headed(page, "Sign in with a code")
    assert page.get_by_label("Email").input_value() == ada.email
    page.get_by_role("button", name="Email me a code").click()
    is_headed(page, "Check your email")
    her.picture("code-check-mail")
    page.get_by_label("Code from the email").fill(code_of(site.mails, ada.email))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/confirm")
    is_headed(page, "Confirm your identity")
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("button", name="Continue").click()
    is_in(page)


@pytest.fixture
def strict(open_site: OpenSite) -> Site:
    return open_site(AUTH__MFA="required")


def test_required_authenticator_app_is_set_up_and_used(
    strict: Site, browser: Browser, cell: Cell, clock: SteppingClock
) -> None:
    ada, visitors = strict.person("ada"), Visitors(browser, strict, cell)
    her = visitors()
    page = her.page
    her.open("/sign-in")
    sign_in(page, ada.email, ada.password)
    is_headed(page, "Protect your account")
    her.picture("set-up")
    page.get_by_role("button", name="Use an authenticator app").click()
    is_headed(page, "Set up your app")
    her.picture("set-up-app")
    page.get_by_text("Can't scan the code?").click()
    phone = Phone(page.locator("pre code").inner_text(), clock)
    page.get_by_label("Code from the app").fill(phone.code())
    page.get_by_role("button", name="Confirm and sign in").click()
    is_headed(page, "Save your recovery codes")
    her.picture("recovery-codes")
    codes = page.locator(".recovery-codes code").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    lines = download.value.path().read_text().splitlines()
    assert [line for line in lines if line in codes] == codes
    page.get_by_role("link", name="I've saved these codes").click()
    is_in(page)
    other = visitors()
    shows_the_code(other, ada.email, ada.password, phone)
    visitors.leave()


def shows_the_code(other: Visitor, email: str, password: str, phone: Phone) -> None:
    page = other.page
    other.open("/sign-in")
    sign_in(page, email, password)
    is_headed(page, "One more step")
    other.picture("second-step")
    other.faults.expect(400)
    page.get_by_label("Code from the app").fill(phone.wrong_code())
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Incorrect or used code").wait_for()
    page.get_by_label("Code from the app").fill(phone.next_code())
    page.get_by_label(re.compile("Trust this device")).check()
    page.get_by_role("button", name="Continue").click()
    is_in(page)


def test_callback_page_submits_the_provider_response(
    open_site: OpenSite, browser: Browser, cell: Cell
) -> None:
    site = open_site(
        AUTH__ENABLE_IDP_OAUTH="true",
        IDP_METADATA_URL="https://accounts.google.com/.well-known/openid-configuration",
        IDP_OAUTH_CLIENT_ID="frontdesk",
    )
    visitors = Visitors(browser, site, cell)
    her = visitors()
    page = her.page
    her.open("/sign-in")
    assert page.get_by_role("link", name="Continue with Google").is_visible()
    her.picture("sign-in-provider")
    her.faults.expect(400)
    her.open("/sign-in/provider/callback?code=of-another&state=of-another")
    if not cell.script:
        page.get_by_role("button", name="Continue").click()
    # With JavaScript the form is submitted automatically.
    page.get_by_text("This sign-in was started in another browser").wait_for()
    assert "of-another" not in page.url
    visitors.leave()


@in_cells(WIDE)
def test_user_creates_a_passkey_and_signs_in_with_it(
    strict: Site, browser: Browser, cell: Cell
) -> None:
    ada, visitors = strict.person("ada"), Visitors(browser, strict, cell)
    her = visitors()
    page = her.page
    Device(page)
    her.open("/sign-in")
    sign_in(page, ada.email, ada.password)
    page.get_by_role("button", name="Create passkey").click()
    is_headed(page, "Save your recovery codes")
    page.get_by_role("link", name="I've saved these codes").click()
    is_in(page)
    # Without autofill of passkeys, so that the button is used.
    page.add_init_script(
        "if (sessionStorage.plain)"
        " PublicKeyCredential.isConditionalMediationAvailable = async () => false"
    )
    page.evaluate("sessionStorage.plain = 1")
    her.context.clear_cookies()
    her.open("/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    is_in(page)
    her.open("/confirm?way=credential&next=/dashboard")
    page.get_by_role("button", name="Use a passkey").click()
    is_in(page)
    # With autofill of passkeys in the email field.
    page.evaluate("sessionStorage.clear()")
    her.context.clear_cookies()
    page.goto(f"{strict.base}/sign-in")
    is_in(page)
    visitors.leave()


@in_cells(WIDE)
def test_missing_passkey_is_reported(site: Site, visitors: Visitors) -> None:
    her = visitors()
    # The device has no passkey for this site.
    Device(her.page)
    her.open("/sign-in")
    her.page.get_by_role("button", name="Sign in with a passkey").click()
    her.page.get_by_text("No passkey was used.").wait_for()
    assert her.page.get_by_role("button", name="Sign in", exact=True).is_enabled()
