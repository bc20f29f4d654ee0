"""The admin pages in a browser: an admin's change of an account affects its user at once."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from ..rigs.console.site import Site, Visitor, Visitors


def open_account(visitor: Visitor, email: str) -> None:
    """Open the page of an account from the list of accounts."""
    visitor.open("/admin/accounts")
    search = visitor.page.get_by_role("searchbox", name="Search accounts")
    search.fill(email[:6])
    search.press("Enter")
    visitor.page.get_by_role("link", name=email).click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(email)


def test_suspended_user_sees_the_suspension_on_the_next_request(
    site: Site, visitors: Visitors
) -> None:
    ada, boss = site.person("ada"), site.person("boss", role="admin")
    hers, his = visitors(ada), visitors(boss)
    hers.open("/dashboard")
    open_account(his, ada.email)
    his.page.get_by_role("link", name="Suspend").first.click()
    his.page.get_by_text("30 days").click()
    his.page.get_by_label("Reason").fill("Sells beans to all users")
    his.page.get_by_role("button", name="Suspend the account").click()
    main = his.page.get_by_role("main")
    expect(main.get_by_text("Sells beans to all users")).to_be_visible()
    expect(main.get_by_text("Ends ")).to_be_visible()

    hers.faults.expect(401)
    hers.page.reload()
    expect(hers.page.get_by_role("main")).to_contain_text("Your account is suspended")

    his.page.get_by_role("button", name="Reactivate").click()
    expect(his.page.get_by_role("link", name="Suspend").first).to_be_visible()


def test_address_of_the_list_has_only_filters_with_a_value(site: Site, visitors: Visitors) -> None:
    boss = visitors(site.person("boss", role="admin"))
    boss.open("/admin/accounts")
    search = boss.page.get_by_role("searchbox", name="Search accounts")
    search.fill("boss")
    search.press("Enter")
    expect(boss.page).to_have_url(re.compile(r"/admin/accounts\?search=boss$"))


def test_account_is_created_changed_and_deleted(site: Site, visitors: Visitors) -> None:
    root = visitors(site.person("root", role="root"))
    page = root.page
    root.open("/admin/accounts")
    page.get_by_role("link", name="New account").click()
    page.get_by_label("Email", exact=True).fill("grace@example.com")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("grace@example.com")
    assert site.mails.last("grace@example.com")

    page.locator("summary", has_text="Change role").click()
    page.get_by_label("Role").select_option("admin")
    page.get_by_role("button", name="Change role").click()
    expect(
        page.get_by_role("main").get_by_text("grace@example.com now has the role admin.")
    ).to_be_visible()

    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Delete…").click()
    root.faults.expect(422)
    page.get_by_label("Enter the account's email address").fill("other@example.com")
    page.get_by_role("button", name="Delete account").click()
    expect(page.get_by_text("This is not the account's email address.")).to_be_visible()
    page.get_by_label("Enter the account's email address").fill("grace@example.com")
    page.get_by_role("button", name="Delete account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Accounts")
    expect(page.get_by_text("Deleted the account grace@example.com.")).to_be_visible()


def test_numbers_of_a_chart_are_shown_by_pointer_and_keyboard(
    site: Site, visitors: Visitors
) -> None:
    """Also without scripts: the bars are radio buttons."""
    visitor = visitors(site.person("boss", role="admin"))
    visitor.open("/admin")
    page = visitor.page
    days = page.get_by_role("group", name="Successful and failed sign-ins").get_by_role("radio")
    expect(days).to_have_count(7)
    today = page.locator(".chart label").last
    shown = today.locator(".tip")
    expect(shown).to_have_css("clip-path", "inset(50%)")
    today.hover()
    expect(shown).to_have_css("clip-path", "none")
    expect(shown).to_have_text(re.compile(r"^\d+ \w+ 1 Succeeded · 0 Failed$"))
    page.get_by_role("heading", name="Overview").hover()
    expect(shown).to_have_css("clip-path", "inset(50%)")
    days.first.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(days.last).to_be_focused()
    expect(shown).to_have_css("clip-path", "none")
    page.keyboard.press("Tab")
    expect(shown).to_have_css("clip-path", "inset(50%)")


def test_events_are_filtered(site: Site, visitors: Visitors) -> None:
    ada, boss = site.person("ada"), site.person("boss", role="admin")
    site.cookie_of(ada)
    visitor = visitors(boss)
    visitor.open("/admin")
    if visitor.cell.width < 900:
        visitor.page.locator("details.opener > summary").click()
    visitor.page.get_by_role("link", name="Events", exact=True).click()
    search = visitor.page.get_by_role("searchbox", name="Search events")
    search.fill("ada@")
    visitor.page.get_by_role("button", name="Search").click()
    main = visitor.page.get_by_role("main")
    rows = main.locator("tbody tr")
    expect(rows.filter(has_text="Signed in")).to_have_count(1)
    expect(main.get_by_text(f"About {ada.email}")).to_be_visible()
    # The first row is the day, and the details are the next row.
    rows.nth(1).locator("summary").click()
    expect(rows.nth(2).get_by_text("ID", exact=True)).to_be_visible()
    visitor.picture("events-of-an-account")

    search.fill("password")
    visitor.page.get_by_role("button", name="Search").click()
    visitor.picture("events-search")
    main.get_by_role("link", name="Password reset requested").click()
    expect(main.get_by_text("No matching events")).to_be_visible()
    main.get_by_role("link", name="Remove the filter Password reset requested").click()
    expect(rows.filter(has_text="Signed in")).to_have_count(1)
    expect(main.get_by_text(f"About {ada.email}")).to_be_visible()


def test_events_are_chosen_by_content_and_group(site: Site, visitors: Visitors) -> None:
    ada, boss = site.person("ada"), site.person("boss", role="admin")
    boss.api().patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
    boss.api().patch(f"/admin/accounts/{ada.id}", json={"status": "active"})
    visitor = visitors(boss)
    visitor.open("/admin/events")
    main = visitor.page.get_by_role("main")
    main.locator("summary").filter(has_text="Events").click()
    main.get_by_label("Account suspended").check()
    main.get_by_role("checkbox", name="Profiles", exact=True).check()
    visitor.picture("events-choices")
    main.get_by_role("button", name="Search").click()
    rows = main.locator("tbody .event")
    expect(rows).to_have_text([f"Account suspended · {ada.email}"])
    expect(main.get_by_text("One event")).to_be_visible()
    main.get_by_label("Period").select_option("Today")
    if not visitor.cell.script:
        main.get_by_role("button", name="Search").click()
    visitor.page.wait_for_url("**days=1**")
    expect(rows).to_have_count(1)
    main.get_by_role("link", name="Remove the filter Account suspended").click()
    expect(main.get_by_text("No matching events")).to_be_visible()


def test_fields_of_options_are_shown_when_they_are_chosen(site: Site, visitors: Visitors) -> None:
    ada, boss = site.person("ada"), visitors(site.person("boss", role="admin"))
    for path, label, option in (
        (f"/admin/accounts/{ada.id}/suspend", "Until", "Until a date"),
        ("/admin/accounts/new", "Password", "With a password"),
    ):
        boss.open(path)
        field = (
            boss.page.get_by_role("main")
            .locator("input.input")
            .and_(boss.page.get_by_label(re.compile(rf"^{label} \(optional\)")))
        )
        expect(field).to_be_hidden()
        boss.page.get_by_text(option, exact=True).click()
        expect(field).to_be_visible()


def test_focus_starts_at_the_heading_of_a_confirmation_page(site: Site, visitors: Visitors) -> None:
    ada, root = site.person("ada"), visitors(site.person("root", role="root"))
    for path, heading in (
        (f"/admin/accounts/{ada.id}/suspend", f"Suspend {ada.email}"),
        (f"/admin/accounts/{ada.id}/delete", f"Delete {ada.email}"),
        (f"/admin/accounts/{ada.id}/email", f"Change the email address of {ada.email}"),
        (f"/admin/accounts/selected/suspend?account={ada.id}", "Suspend 1 account?"),
        ("/account/delete", "Delete account"),
    ):
        root.open(path)
        name = root.page.get_by_role("heading", level=1, name=heading, exact=True)
        expect(name).to_be_focused()
        assert root.page.evaluate("scrollY") == 0
    root.open(f"/admin/accounts/{ada.id}")
    root.page.locator("summary", has_text="Change role").click()
    root.page.get_by_label("Role").select_option("root")
    root.page.get_by_role("button", name="Change role").click()
    question = root.page.get_by_role("heading", level=1, name=f"Give {ada.email} the role root?")
    expect(question).to_be_focused()


def test_owner_who_leaves_is_replaced_and_the_workspace_is_deleted(
    site: Site, visitors: Visitors
) -> None:
    ada, bob = site.person("ada"), site.person("bob")
    ada.api().post("/workspaces", json={"name": "Engines", "slug": "engines"})
    adding = ["workspaces", "add", "engines", bob.email]
    assert site.app.test_cli_runner().invoke(args=adding).exit_code == 0
    hers, boss = visitors(ada), visitors(site.person("boss", role="admin"))
    page = hers.page
    hers.open("/account/delete")
    page.get_by_role("link", name="Delete Engines").click()
    expect(page.get_by_label("Enter “Engines” to confirm")).to_be_in_viewport()
    expect(page.get_by_role("main")).to_contain_text("You are the only owner.")
    hers.picture("only-owner")
    page.get_by_role("link", name="Show members").click()
    expect(page.get_by_role("main")).to_contain_text(bob.email)

    page = boss.page
    boss.open("/admin/workspaces")
    page.get_by_role("link", name="Engines").click()
    page.get_by_label("Email").fill(bob.email)
    page.get_by_role("button", name="Appoint owner").click()
    expect(page.locator(".toast")).to_contain_text(f"{bob.email} is now an owner.")
    hers.open("/workspaces/engines/settings")
    expect(hers.page.get_by_text("Leave workspace")).to_be_visible()
    page.get_by_label("Enter “Engines” to confirm").fill("Engine")
    boss.faults.expect(422)
    page.get_by_role("button", name="Delete workspace").click()
    expect(page.get_by_text("This is not the name of the workspace.")).to_be_visible()
    page.get_by_label("Enter “Engines” to confirm").fill("Engines")
    page.get_by_role("button", name="Delete workspace").click()
    expect(page.locator(".toast")).to_contain_text("Deleted Engines.")
