"""Several accounts are selected in the list and changed at once."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import expect

from app.testing.database import noted_queries

from ..conftest import Person
from ..rigs.cases import for_each
from ..rigs.console.site import Site, Visitors
from ..rigs.console.world import TEAM, World
from ..rigs.racing import run_concurrently
from .form_client import FormClient
from .test_admin_accounts import AdminClient, details

SUSPEND, REACTIVATE, SIGN_OUT, ADD = (
    f"/admin/accounts/selected/{action}" for action in ("suspend", "reactivate", "sign-out", "add")
)


@pytest.fixture
def admin(world: World) -> AdminClient:
    return AdminClient(world, "admin")


@pytest.fixture
def members(world: World) -> list[Person]:
    return [world.site.person(f"member{number}") for number in range(3)]


def ids(*people: Person) -> list[Any]:
    return [person.id for person in people]


def events(world: World, kind: str) -> list[dict[str, Any]]:
    return list(world.bosses.get(f"/admin/events?type={kind}").json)


def test_selected_accounts_are_suspended_and_others_are_skipped_with_the_reason(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    pending = world.site.person("pending", status="pending")
    chosen = [*members, world.suspended, world.people["root"], world.people["admin"], pending]
    page = admin.get(SUSPEND, account=ids(*chosen))
    assert "Suspend 4 accounts?" in page
    for reason in ("Already suspended", "Role that you cannot change here", "Your own account"):
        assert reason in page
    apis = [person.api() for person in members]
    form: dict[str, Any] = {
        "account": ids(*chosen),
        "length": "7",
        "suspended_reason": "Sends spam",
    }
    answer = admin.send(SUSPEND, next="/admin/accounts?role=user", **form)
    assert answer.headers["Location"] == "/admin/accounts?role=user"
    for person, api in zip(members, apis, strict=True):
        found = details(world, person.id)
        assert (found["status"], found["suspended_reason"]) == ("suspended", "Sends spam")
        assert found["suspended_until"] is not None
        api.get("/account", 401)
    for person in (pending, world.people["root"]):
        assert details(world, person.id)["status"] != "suspended"
    recorded = events(world, "account.updated")
    assert {each["account_id"] for each in recorded} == set(ids(*members))
    assert recorded[0]["data"]["after"] == {"status": "suspended"}


def test_selected_accounts_are_reactivated_and_others_are_skipped_with_the_reason(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    inactive = world.site.person("inactive", status="inactive")
    pending = world.site.person("pending", status="pending")
    admin.send(SUSPEND, account=ids(*members[:2]), length="7", suspended_reason="Sends spam")
    chosen = ids(*members, inactive, pending, world.people["root"], world.people["admin"])
    page = admin.get(REACTIVATE, account=chosen)
    assert "Reactivate 3 accounts?" in page
    for reason in ("Already active", "Unverified email address", "Your own account"):
        assert reason in page
    admin.send(REACTIVATE, account=chosen)
    for person in (*members, inactive):
        found = details(world, person.id)
        assert (found["status"], found["suspended_until"]) == ("active", None)
        assert found["suspended_reason"] is None
    assert details(world, pending.id)["status"] == "pending"
    [newest, *_others] = events(world, "account.updated")
    assert newest["data"] == {
        "changed": ["status"],
        "before": {"status": "inactive"},
        "after": {"status": "active"},
    }
    members[0].api().get("/account")
    # Nothing is left to do.
    count = len(events(world, "account.updated"))
    admin.send(REACTIVATE, account=chosen)
    assert len(events(world, "account.updated")) == count == 5


def test_undo_of_a_suspension_reactivates_the_accounts_that_it_changed(
    world: World, members: list[Person]
) -> None:
    client = FormClient(world.site.app, world.people["admin"])
    inactive = world.site.person("inactive", status="inactive")
    chosen = [str(each.id) for each in (*members, inactive, world.suspended)]
    answer = client.post(SUSPEND, account=chosen, length="open", next="/admin/accounts?role=user")
    notice = client.get(answer.headers["Location"]).partition('class="toast')[2]
    undo = dict(re.findall(r'name="(\w+)" value="([^"]*)"', notice.partition("</form>")[0]))
    assert undo == {
        "account": " ".join(str(each.id) for each in members),
        "next": "/admin/accounts?role=user",
    }
    page = client.post_and_follow(REACTIVATE, **undo)
    assert "Reactivated 3 accounts." in page
    assert [details(world, each.id)["status"] for each in members] == ["active"] * 3
    for person in (inactive, world.suspended):
        assert details(world, person.id)["status"] == "suspended"


def test_suspension_of_no_active_account_has_no_undo(world: World) -> None:
    client = FormClient(world.site.app, world.people["admin"])
    inactive = world.site.person("inactive", status="inactive")
    answer = client.post(SUSPEND, account=str(inactive.id), length="open", next="/admin/accounts")
    page = client.get(answer.headers["Location"])
    assert "Suspended 1 account." in page
    assert ">Undo<" not in page


def test_suspension_of_only_owners_shows_their_workspaces(
    world: World, members: list[Person]
) -> None:
    runner, guest = world.site.app.test_cli_runner(), world.site.person("guest")
    for number, member in enumerate(members):
        member.api().post("/workspaces", json={"name": "Shop", "slug": f"shop{number}"})
        runner.invoke(args=["workspaces", "add", f"shop{number}", guest.email])
    client = FormClient(world.site.app, world.people["admin"])
    accounts = [str(member.id) for member in members[:2]]
    answer = client.post(SUSPEND, account=accounts, length="open", next="/admin/accounts")
    page = client.get(answer.headers["Location"])
    for slug in ("shop0", "shop1"):
        assert f'<a href="/admin/workspaces?search={slug}">{slug}</a>' in page
    page = unescape(re.sub("<[^>]+>", "", page))
    assert "Suspended 2 accounts. Without an active owner: shop0, shop1." in page
    assert "Appoint one on the workspace's page." in page
    path = f"/admin/accounts/{members[2].id}/suspend"
    page = client.post_and_follow(path, length="open")
    assert '<a href="/admin/workspaces?search=shop2">shop2</a>' in page


def test_accounts_are_not_suspended_until_a_day_in_the_past(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    form: dict[str, Any] = {"length": "day", "suspended_until": "2001-02-03"}
    page = admin.send_rejected(SUSPEND, account=ids(*members), **form)
    assert "Choose a date in the future." in page
    assert not events(world, "account.updated")


def test_selected_accounts_are_signed_out(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    apis = [person.api() for person in members]
    admin.send(SIGN_OUT, account=ids(*members))
    for api in apis:
        api.get("/account", 401)
    assert len(events(world, "tokens.ended")) == 3
    members[0].api().get("/account")


def test_selected_accounts_are_added_to_a_workspace(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    chosen = ids(*members, world.ada)
    assert "No workspace has the name or address missing." in admin.send_rejected(
        ADD, account=chosen, workspace="missing"
    )
    assert f'<option value="{TEAM}">Engines</option>' in admin.get(ADD, account=chosen)
    admin.send(ADD, account=chosen, workspace="engines", type="guest")
    rows = {row["email"]: row["type"] for row in world.adas.get(f"/workspaces/{TEAM}/members").json}
    assert rows == {world.ada.email: "owner", **{each.email: "guest" for each in members}}
    assert len(events(world, "member.added")) == 3
    # Nothing is left to do.
    admin.send(ADD, account=chosen, workspace=TEAM)
    assert len(events(world, "member.added")) == 3


def test_all_accounts_that_match_are_selected_up_to_a_limit(
    world: World, admin: AdminClient, members: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = admin.get(SIGN_OUT, all="true", search="member")
    assert "Sign out 3 accounts?" in page
    for name in ("administration.bulk", "console.admin.selected_accounts"):
        monkeypatch.setattr(f"app.{name}.MAX_ACCOUNTS", 2)
    page = admin.get(SIGN_OUT, all="true", search="member")
    assert "at most 2 accounts" in page
    assert "No accounts to change" in page
    admin.send_rejected(SIGN_OUT, account=ids(*members))
    assert not events(world, "tokens.ended")


def test_all_accounts_of_a_frequent_text_are_too_many(
    world: World, admin: AdminClient, members: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.accounts.search.MAX_MATCHES", 1)
    monkeypatch.setattr("app.administration.search.MAX_CHECKED", 2)
    page = admin.get(SIGN_OUT, all="true", search="member")
    assert "Go back and choose more filters" in page
    assert "No accounts to change" in page


def test_page_of_a_frequent_text_asks_to_refine_the_search(
    admin: AdminClient, members: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.accounts.search.MAX_MATCHES", 1)
    monkeypatch.setattr("app.administration.search.MAX_CHECKED", 2)
    page = admin.get("/admin/accounts", search="member", sort="email")
    assert page.index(members[2].email) < page.index(members[1].email)
    assert members[0].email not in page
    assert "Refine the search" in page
    assert "More than 1,000 accounts</span>" in page
    # The number of matches with the filters is not known.
    page = admin.get("/admin/accounts", search="member", role="user")
    assert "Refine the search" in page
    assert "More than 1,000 accounts</span>" not in page


@for_each("account", [[], ["0"], ["999999"], ["x"]])
def test_unknown_accounts_change_nothing(
    world: World, admin: AdminClient, account: list[str]
) -> None:
    assert "No accounts to change" in admin.get(SUSPEND, account=account)
    answer = admin.send(SIGN_OUT, 422 if account in ([], ["x"]) else 303, account=account)
    assert not events(world, "tokens.ended"), answer.text


def test_change_takes_the_same_number_of_statements_for_any_number_of_accounts(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    counts = []
    for chosen in (members[:1], members[1:]):
        forms: list[tuple[str, dict[str, Any]]] = [(SUSPEND, {}), (ADD, {"workspace": TEAM})]
        forms.insert(1, (REACTIVATE, {}))
        for path, fields in forms:
            with noted_queries(world.site.app) as statements:
                admin.send(path, account=ids(*chosen), **fields)
            counts.append(len(statements))
    assert counts[:3] == counts[3:]


def test_of_two_changes_at_once_the_second_skips_the_accounts_of_the_first(
    world: World, admin: AdminClient, members: list[Person]
) -> None:
    root = AdminClient(world, "root")
    actions = [
        partial(suspend, client, order)
        for client, order in ((admin, ids(*members)), (root, ids(*reversed(members))))
    ]
    assert run_concurrently(*actions) == [303, 303]
    assert len(events(world, "account.updated")) == 3


def suspend(client: AdminClient, account: list[Any]) -> int:
    return client.send(SUSPEND, account=account).status_code


def test_admin_selects_accounts_in_the_list(site: Site, visitors: Visitors) -> None:
    people = [site.person(f"member{number}") for number in range(3)]
    site.person("member3", status="suspended")
    boss = visitors(site.person("boss", role="admin"))
    page = boss.page
    boss.open("/admin/accounts?search=member")
    expect(page.get_by_role("button", name="Suspend…")).to_be_hidden()
    page.get_by_label(f"Select {people[0].email}").check()
    if boss.cell.script:
        expect(page.locator(".selection output")).to_have_text("1")
        page.get_by_label("Select all on this page").check()
        expect(page.locator(".selection output")).to_have_text("4")
        page.get_by_label(f"Select {people[2].email}").uncheck()
        expect(page.get_by_label("Select all on this page")).not_to_be_checked()
    else:
        page.get_by_label(f"Select {people[1].email}").check()
        page.get_by_label("Select member3@example.com").check()
    page.get_by_role("button", name="Suspend…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Suspend 2 accounts?")
    page.get_by_role("button", name="Suspend 2 accounts").click()
    expect(
        page.get_by_text("Suspended 2 accounts. Skipped: already suspended (1).")
    ).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Accounts")
    expect(page.locator("tbody").get_by_text("Suspended", exact=True)).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Reactivated 2 accounts.")).to_be_visible()
    expect(page.locator("tbody").get_by_text("Suspended", exact=True)).to_have_count(1)

    page.get_by_label(f"Select {people[0].email}").check()
    page.get_by_label("Select member3@example.com").check()
    page.get_by_label("More actions").click()
    page.get_by_role("button", name="Email…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New broadcast")
    expect(page.get_by_text("2 accounts selected")).to_be_visible()
    expect(page.get_by_label(people[0].email)).to_be_checked()

    boss.open(f"/admin/accounts/selected/add?account={people[0].id}")
    workspaces = page.locator("#workspaces option")
    expect(workspaces).to_have_count(5)
    page.get_by_role("combobox", name="Workspace").fill("member2")
    expect(workspaces).to_have_count(1 if boss.cell.script else 5)


def test_selection_of_all_accounts_shows_its_number_and_its_limit(
    site: Site, visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.admin.accounts.ROWS", 2)
    people = [site.person(f"member{number}") for number in range(4)]
    boss = visitors(site.person("boss", role="admin"))
    page, suspend = boss.page, boss.page.get_by_role("button", name="Suspend…")
    limit = page.get_by_text("A change can include at most 3 accounts. Choose more filters.")
    boss.open("/admin/accounts?search=member")
    page.get_by_label(f"Select {people[3].email}").check()
    page.get_by_label("Select all 4").check()
    if boss.cell.script:
        expect(page.locator(".selection")).to_contain_text("4 selected")
        expect(page.get_by_label(f"Select {people[2].email}")).to_be_checked()
    suspend.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Suspend 4 accounts?")

    monkeypatch.setattr("app.console.admin.accounts.MAX_ACCOUNTS", 3)
    boss.open("/admin/accounts?search=member")
    page.get_by_label(f"Select {people[3].email}").check()
    expect(limit).to_be_hidden()
    page.get_by_label("Select all 4").check()
    expect(limit).to_be_visible()
    if boss.cell.script:
        for name in ("Suspend…", "Reactivate…", "Email…"):
            expect(page.get_by_role("button", name=name, include_hidden=True)).to_be_disabled()
        page.get_by_label(f"Select {people[2].email}").uncheck()
        expect(page.locator(".selection")).to_contain_text("1 selected")
        expect(suspend).to_be_enabled()
        expect(limit).to_be_hidden()
        boss.open("/admin/accounts?role=user")
        page.get_by_label(f"Select {people[3].email}").check()
        page.get_by_label("Select all 4").check()
        expect(page.get_by_text("An email can include all of them.")).to_be_visible()
        page.get_by_label("More actions").click()
        page.get_by_role("button", name="Email…").click()
        expect(page.get_by_role("radio", name="Accounts by filter")).to_be_checked()
        expect(page.get_by_label("Role", exact=True)).to_have_value("user")
        boss.open("/admin/accounts?search=member")
        page.get_by_label(f"Select {people[3].email}").check()
    page.get_by_role("button", name="Clear").click()
    expect(suspend).to_be_hidden()
    expect(page.get_by_label(f"Select {people[3].email}")).not_to_be_checked()
    if boss.cell.script:
        expect(page.get_by_label(f"Select {people[3].email}")).to_be_focused()


def test_bar_of_selected_accounts_is_one_row_that_stays_visible(
    site: Site, visitors: Visitors
) -> None:
    people = [site.person(f"member{number:02}") for number in range(30)]
    boss = visitors(site.person("boss", role="admin"))
    boss.open("/admin/accounts?search=member&sort=email")
    bar = boss.page.locator(".selection")
    boss.page.get_by_label(f"Select {people[-1].email}").check()
    expect(bar).to_be_in_viewport(ratio=0.99)
    box = bar.bounding_box()
    assert box is not None
    assert box["height"] < (60 if boss.cell.width > 1000 else 150)
