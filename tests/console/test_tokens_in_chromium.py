"""Users create, see once, and end tokens for programs, in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error, Page, expect

from app.testing.client import Api

from ..conftest import only_on
from ..rigs.axe import serious_violations
from ..rigs.console.site import Site, Visitor, Visitors
from .page_client import link_of

pytestmark = only_on("sqlite")
NEW = "otters like cold rivers"
BODY = {"name": "Nightly backup", "scopes": ["account:read"]}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).last.click()


def check(visitor: Visitor, name: str) -> None:
    visitor.settle()
    assert not (serious_violations(visitor.page) if visitor.cell.script else [])
    visitor.picture(name)


def secret_of(visitor: Visitor) -> str:
    """Return the secret of the page, which its button copies."""
    page, shown = visitor.page, visitor.page.get_by_label("Token", exact=True)
    secret: str = shown.inner_text().strip()
    if visitor.cell.script:
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy", exact=True).click()
        assert page.evaluate("navigator.clipboard.readText()") == secret
    return secret


def go_back_from_list(visitor: Visitor, secret: str) -> None:
    """Check that the history does not show the secret again."""
    page = visitor.page
    if visitor.cell.script:
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("New token")
        assert secret not in page.content()
    else:
        # The page is the response to a form, which Chromium does not keep.
        with pytest.raises(Error, match="ERR_CACHE_MISS"):
            page.go_back()
        page.wait_for_url("chrome-error://**")
        assert len(visitor.faults.take()) == 1
    visitor.open("/security/tokens")


def test_user_creates_a_token_and_ends_it(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    visitor = visitors(ada)
    page = visitor.page
    visitor.open("/security")
    page.get_by_role("main").get_by_role("link", name="Manage: Tokens").click()
    page.get_by_role("main").get_by_role("link", name="Create token").click()
    visitor.faults.expect(422)
    page.get_by_label("Name").fill("Nightly backup")
    page.get_by_role("combobox", name="Workspace").select_option("ada")
    page.get_by_label("Days until the token expires").fill("7")
    press(page, "Create token")
    expect(page.get_by_text("This field is required.")).to_be_visible()
    check(visitor, "token-rejected")
    page.get_by_label("workspaces:read").check()
    press(page, "Create token")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your new token")
    check(visitor, "token-shown")
    secret = secret_of(visitor)
    program = Api(site.app, "/api/v1").as_token(secret)
    assert program.get("/workspaces/ada").json["slug"] == "ada"
    page.get_by_role("link", name="I've saved the token").click()
    line = page.get_by_role("listitem").filter(has_text=secret[:8])
    for text in ("Nightly backup", "workspaces:read", "workspace ada", "Expires soon", "Last used"):
        expect(line).to_contain_text(text)
    go_back_from_list(visitor, secret)
    line.get_by_text("End", exact=True).click()
    check(visitor, "token-end")
    press(page, "End token")
    expect(page.get_by_text("Ended Nightly backup.")).to_be_visible()
    program.get("/workspaces/ada", 401)


def test_reload_of_the_new_token_shows_no_secret_again(site: Site, visitors: Visitors) -> None:
    visitor = visitors(site.person("ada"))
    page = visitor.page
    visitor.open("/security/tokens/new")
    page.get_by_label("Name").fill("Nightly backup")
    page.get_by_label("account:read").check()
    press(page, "Create token")
    secret = page.get_by_label("Token", exact=True).inner_text().strip()
    page.reload()
    assert secret not in page.content()


def test_old_sign_in_is_renewed_before_a_token_is_created(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    visitor = visitors(ada)
    page = visitor.page
    site.clock.step(minutes=16)
    visitor.open("/security/tokens")
    page.get_by_role("main").get_by_role("link", name="Create token").click()
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("main").get_by_role("button").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New token")


def test_tokens_outlive_a_change_and_end_all_at_once(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    for _ in range(2):
        ada.api().post("/personal-tokens", 201, json=BODY)
    visitor = visitors(ada)
    page = visitor.page
    visitor.open("/security/password")
    check(visitor, "password-with-tokens")
    page.get_by_label("Current password").fill(ada.password)
    page.get_by_label("New password", exact=True).fill(NEW)
    press(page, "Change password")
    expect(page.get_by_text("Your tokens still work")).to_be_visible()
    check(visitor, "tokens-after-password")
    visitor.open("/security/email")
    page.get_by_label("New email address").fill("ada@new.example")
    press(page, "Email the link")
    page.get_by_text("We emailed").first.wait_for()
    visitor.open(link_of(site.mails, "ada@new.example"))
    page.get_by_role("main").get_by_role("button").last.click()
    expect(page.get_by_text("Your tokens still work")).to_be_visible()
    page.get_by_role("main").get_by_text("End all", exact=True).click()
    check(visitor, "tokens-end-all")
    press(page, "End all tokens")
    expect(page.get_by_text("Ended 2 tokens.")).to_be_visible()
    expect(page.get_by_text("No tokens yet")).to_be_visible()


def test_root_ends_tokens_of_an_account(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    for name in ("One", "Two", "Three"):
        ada.api().post("/personal-tokens", 201, json={**BODY, "name": name})
    visitor = visitors(site.person("root", role="root"))
    page = visitor.page
    visitor.open(f"/admin/accounts/{ada.id}")
    page.get_by_role("link", name="Sessions").click()
    line = page.get_by_role("listitem").filter(has_text="Two")
    line.get_by_text("End", exact=True).click()
    press(page, "End token")
    expect(page.get_by_text("Ended Two.")).to_be_visible()
    page.get_by_role("main").get_by_text("End all", exact=True).click()
    check(visitor, "account-tokens-end-all")
    press(page, "End all tokens")
    expect(page.get_by_text("Ended 2 tokens.")).to_be_visible()


def test_manager_creates_a_token_of_a_workspace_and_ends_it(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    ada.api().post("/workspaces", json={"name": "Gardeners", "slug": "gardeners"})
    visitor = visitors(ada)
    page = visitor.page
    site.clock.step(minutes=16)
    visitor.open("/workspaces/gardeners")
    page.get_by_role("main").get_by_role("link", name="Tokens").click()
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("main").get_by_role("button").last.click()
    page.get_by_role("main").get_by_role("link", name="Create token").click()
    page.get_by_label("Name").fill("Member sync")
    page.get_by_label("members:read").check()
    page.get_by_text("Guest", exact=True).click()
    press(page, "Create token")
    expect(page.get_by_role("heading", name="Copy the token now")).to_be_visible()
    check(visitor, "workspace-token-shown")
    secret = secret_of(visitor)
    program = Api(site.app, "/api/v1").as_token(secret)
    assert len(program.get("/workspaces/gardeners/members").json) == 1
    page.get_by_role("link", name="I've saved the token").click()
    line = page.get_by_role("listitem").filter(has_text=secret[:8])
    for text in ("Member sync", "members:read", "Role: Guest", "Last used"):
        expect(line).to_contain_text(text)
    assert secret not in page.content()
    line.get_by_text("End", exact=True).click()
    check(visitor, "workspace-token-end")
    press(page, "End token")
    expect(page.get_by_text("Ended Member sync.")).to_be_visible()
    program.get("/workspaces/gardeners/members", 401)
