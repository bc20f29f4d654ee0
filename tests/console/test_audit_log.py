"""The audit log on pages of admins and of workspaces: titles, filters, links and downloads."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import orjson
import pytest
from flask import Flask
from markupsafe import Markup
from werkzeug.test import TestResponse

from app.accounts.actions import ACCOUNT_UNLOCKED
from app.console import audit_rows
from app.console.csv_files import csv_lines
from app.core.actions import Action, Target
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, report_action
from app.core.db.transaction import transaction
from app.extension.actions import ACTIONS, AREAS
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..audit.entries import records
from ..auth.test_login import log_in
from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST
from .form_client import FormClient

EVENTS = "/admin/events"
ACTIVITY = "/workspaces/garden/activity"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def boss(person: MakePerson) -> Person:
    return person("boss", role="root")


@pytest.fixture
def desk(app: Flask, boss: Person) -> FormClient:
    """Return the browser of an admin."""
    return FormClient(app, boss)


@pytest.fixture
def garden(app: Flask, ada: Person) -> FormClient:
    """Return the browser of a workspace's owner."""
    owner = FormClient(app, ada)
    owner.post_and_follow("/workspaces/new", name="Garden")
    return owner


def join(app: Flask, member: Person, kind: str = "member") -> FormClient:
    added = ["workspaces", "add", "garden", member.email, "--type", kind]
    assert app.test_cli_runner().invoke(args=added).exit_code == 0
    return FormClient(app, member)


def report(app: Flask, action: Action = ACCOUNT_UNLOCKED, **values: Any) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        report_action(current_frontdesk.session, action, **values)


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"))))


def download(pages: FormClient, path: str) -> TestResponse:
    found = pages.browser.client.get(path, base_url=HOST)
    assert "attachment" in found.headers["Content-Disposition"]
    return found


def table_of(page: str) -> str:
    """Return the list on a page without tags, and without the options of the filter."""
    shown = re.sub(
        r'<form method="get".+?</form>(\s*<div class="actions">.+?</div>)?', "", page, flags=re.S
    )
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


CHANGED = "account.updated"


@for_each(
    ("name", "data", "title"),
    [
        (CHANGED, {"role": ("user", "admin")}, "Role changed from user to admin"),
        (CHANGED, {"status": ("active", "suspended")}, "Account suspended"),
        (
            CHANGED,
            {"status": ("active", "suspended"), "suspended_until": None},
            "Account suspended",
        ),
        (CHANGED, {"status": ("suspended", "active")}, "Account reactivated"),
        (CHANGED, {"status": ("pending", "active")}, "Status changed from pending to active"),
        (CHANGED, {"email": None}, "Email address changed"),
        (CHANGED, {"password": None}, "Password changed"),
        (CHANGED, {"email": None, "phone": None}, "Account details changed"),
        (CHANGED, {"role": ("user", "user"), "phone": None}, "Phone number changed"),
        (CHANGED, {}, "Account details changed"),
        (
            "member.updated",
            {"type": ("guest", "admin")},
            "Workspace role changed from guest to admin",
        ),
        ("member.updated", {"status": ("active", "suspended")}, "Workspace member suspended"),
        ("workspace.updated", {"name": None}, "Workspace renamed"),
        ("workspace.updated", {"name": None, "slug": None}, "Workspace changed"),
    ],
)
def test_title_names_the_change(
    name: str, data: Mapping[str, tuple[str, str] | None], title: str
) -> None:
    shown = {each: values for each, values in data.items() if values}
    found = ACTIONS[name].title_of(
        {
            "changed": list(data),
            "before": {each: values[0] for each, values in shown.items()},
            "after": {each: values[1] for each, values in shown.items()},
        }
    )
    assert found.text.format(**found.values) == title


@for_each(
    ("name", "data", "title"),
    [
        ("authenticator.added", {"kind": "passkey"}, "Passkey added"),
        ("authenticator.added", {"kind": "other"}, "Authenticator added"),
        ("session.ended", {"reason": "owner"}, "Session ended"),
        ("session.ended", {"reason": "owner", "sessions": 3}, "Several sessions ended"),
        ("member.added", {"after": {"type": "guest"}}, "Workspace member added as guest"),
        ("login.failed", {"reason": "incorrect_credentials"}, "Sign-in failed"),
    ],
)
def test_title_depends_on_the_data(name: str, data: Mapping[str, Any], title: str) -> None:
    found = ACTIONS[name].title_of(data)
    assert found.text.format(**found.values) == title


@for_each("name", sorted(ACTIONS))
def test_every_action_has_an_area_and_a_title_for_an_entry_without_data(name: str) -> None:
    assert name.partition(".")[0] in AREAS
    assert ACTIONS[name].title_of({}) == (ACTIONS[name].title, {})


def test_pages_show_the_titles_of_changes(
    app: Flask, desk: FormClient, boss: Person, ada: Person
) -> None:
    boss.api().patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
    account = f"/admin/accounts/{ada.id}"
    for path in (EVENTS, account):
        assert "Account suspended" in table_of(desk.get(path))
    boss.api().patch(account, json={"status": "active"})
    assert "Account reactivated" in table_of(FormClient(app, ada).get("/account/activity"))


def options_of(page: str) -> Iterator[tuple[str, list[str]]]:
    for area, options in re.findall(r'<fieldset aria-label="(.+?)">(.+?)</fieldset>', page, re.S):
        title, *titles = re.findall(r"> ([^<]+)</label>", options)
        assert title == area
        yield area, titles


def test_filter_groups_actions_by_area_in_alphabetical_order(desk: FormClient) -> None:
    groups = dict(options_of(desk.get(EVENTS)))
    assert list(groups) == sorted({*AREAS.values()})
    variants = sum(len(action.variants) for action in ACTIONS.values())
    assert sum(map(len, groups.values())) == len(ACTIONS) + variants
    for options in groups.values():
        assert options == sorted(options, key=str.casefold)
    assert "Sign-in failed" in groups["Sign-in and sessions"]


def location(pages: FormClient, path: str) -> str:
    found = pages.browser.client.get(path, base_url=HOST)
    assert found.status_code == 303, found.text
    return found.headers["Location"]


def titles_of(page: str) -> list[str]:
    """Return the titles of the rows, without the objects."""
    rows = re.findall(r"<summary>([^<]+?)(?: · |</summary>| <span)", page)
    return [unescape(each).strip() for each in rows]


@pytest.fixture
def changes(app: Flask, ada: Person) -> None:
    """Change an account in several ways, which are all entries of one action."""
    for change in (
        ("--status", "suspended"),
        ("--status", "active"),
        ("--role", "admin"),
        ("--role", "user", "--phone", "+441632960961"),
        ("--password", "correct horse battery"),
    ):
        found = app.test_cli_runner().invoke(args=["accounts", "set", ada.email, *change])
        assert found.exit_code == 0, found.output


@for_each(
    ("kinds", "titles"),
    [
        (["account.updated.suspended"], ["Account suspended"]),
        (["account.updated.reactivated"], ["Account reactivated"]),
        (["account.updated.role"], ["Account details changed", "Role changed from user to admin"]),
        (["account.updated.password"], ["Password changed"]),
        (["account.updated.email"], []),
        (
            ["account.updated.suspended", "account.updated.password"],
            ["Password changed", "Account suspended"],
        ),
        (
            ["account.updated", "account.updated.password"],
            [
                *("Password changed", "Account details changed"),
                *("Role changed from user to admin", "Account reactivated", "Account suspended"),
            ],
        ),
        (["account.updated.suspended", "workspace.deleted"], ["Account suspended"]),
    ],
)
def test_filter_finds_entries_by_their_content(
    desk: FormClient, changes: None, kinds: list[str], titles: list[str]
) -> None:
    query = "&".join(f"type={each}" for each in kinds)
    assert titles_of(desk.get(f"{EVENTS}?{query}")) == titles
    rows = read_csv(download(desk, f"{EVENTS}.csv?{query}").text)
    assert [each["title"] for each in rows] == titles[::-1]


def test_page_searches_the_content_of_a_limited_number_of_entries(
    desk: FormClient, changes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.audit.service.MAX_SEARCHED", 2)
    path, pages = f"{EVENTS}?type=account.updated.role&type=account.updated.suspended", []
    while path:
        page = desk.get(path)
        assert "2 events" not in page
        pages.append(titles_of(page))
        [path] = re.findall(r'href="([^"]+)"[^>]* rel="next"', unescape(page)) or [""]
    details, role, suspended = (
        "Account details changed",
        "Role changed from user to admin",
        "Account suspended",
    )
    assert pages == [[details], [role], [suspended]]
    assert "older events" in desk.get(f"{EVENTS}?type=account.updated.suspended")
    [path] = re.findall(r'href="([^"]+)"[^>]* rel="prev"', unescape(page))
    assert titles_of(desk.get(path)) == [details]
    rows = read_csv(download(desk, f"{EVENTS}.csv?type=account.updated.suspended").text)
    assert [each["title"] for each in rows] == [suspended]


def test_filter_finds_entries_by_group(desk: FormClient, garden: FormClient, changes: None) -> None:
    page = desk.get(f"{EVENTS}?type=Workspaces&type=account.updated.suspended")
    assert {*titles_of(page)} == {"Account suspended", "Workspace created"}
    assert "Sign-in and sessions" not in table_of(page)


def test_filters_are_shown_with_a_link_that_removes_them(desk: FormClient, changes: None) -> None:
    query = "type=account.updated.role&type=Workspaces&account=ada@example.com"
    page = unescape(desk.get(f"{EVENTS}?{query}"))
    for label, rest in (
        ("About ada@example.com", "?type=account.updated.role&type=Workspaces"),
        ("Role changed", "?account=ada@example.com&type=Workspaces"),
        ("Workspaces", "?account=ada@example.com&type=account.updated.role"),
    ):
        assert re.search(
            rf'<a href="{re.escape(EVENTS + rest)}"[^>]*"Remove the filter {label}"', page
        ), label
    swapped = "?type=account.updated.role&type=Workspaces&actor=ada@example.com"
    assert f'href="{EVENTS}{swapped}"' in page
    assert "By ada@example.com" in plain(desk.get(EVENTS + swapped))


def test_search_with_one_result_uses_it_as_a_filter(
    desk: FormClient, garden: FormClient, ada: Person
) -> None:
    assert location(desk, f"{EVENTS}?search=ada@&days=7") == (
        f"{EVENTS}?days=7&account=ada@example.com"
    )
    found = location(desk, f"{EVENTS}?search=GARDEN&type=Workspaces")
    assert re.fullmatch(rf"{EVENTS}\?type=Workspaces&workspace=\d+", found)
    assert titles_of(desk.get(found)) == ["Workspace created"]
    found = location(desk, f"{EVENTS}?search=account+suspended&type=Workspaces")
    assert found == f"{EVENTS}?type=Workspaces&type=account.updated.suspended"


def test_search_with_several_results_offers_them(
    desk: FormClient, garden: FormClient, person: MakePerson
) -> None:
    for name in ("mei.simone", "anais.simone"):
        person(name)
    page = unescape(desk.get(f"{EVENTS}?search=simone&days=30"))
    for name in ("mei.simone", "anais.simone"):
        assert f'href="{EVENTS}?days=30&account={name}@example.com"' in page
    page = desk.get(f"{EVENTS}?search=password")
    for kind in ("account.updated.password", "password.changed", "password.reset"):
        assert f'href="{EVENTS}?type={kind}"' in page
    assert titles_of(page) == []


def test_search_without_a_result_says_so(desk: FormClient, garden: FormClient) -> None:
    assert "No account, workspace or event matches “xyzxyz”." in plain(
        desk.get(f"{EVENTS}?search=xyzxyz")
    )
    assert "No member or event matches “xyzxyz”." in plain(garden.get(f"{ACTIVITY}?search=xyzxyz"))
    assert "No account has this address." in desk.get(f"{EVENTS}?account=mei", 422)


def plain(page: str) -> str:
    """Return the text of a page, without the marks around values."""
    return re.sub(r"[\u2066-\u2069]|<[^>]+>", "", unescape(page))


def test_search_of_a_workspace_finds_only_members(
    garden: FormClient, app: Flask, person: MakePerson
) -> None:
    bob, outsider = person("bob.smith"), person("eve.smith")
    join(app, bob)
    assert location(garden, f"{ACTIVITY}?search=smith") == f"{ACTIVITY}?account={bob.email}"
    # Complete addresses with and without an account lead to the same page.
    for email in (outsider.email, "unknown@example.com"):
        assert location(garden, f"{ACTIVITY}?search={email}") == f"{ACTIVITY}?account={email}"
    page = garden.get(f"{ACTIVITY}?account={outsider.id}")
    assert outsider.email not in page
    assert f"About #{outsider.id}" in plain(page)


def test_presets_are_days_of_the_reader(
    app: Flask, boss: Person, ada: Person, clock: SteppingClock
) -> None:
    for _ in range(8):
        report(app, account_id=ada.id)
        clock.step(days=1)
    report(app, account_id=ada.id)
    desk = FormClient(app, boss)
    query = f"{EVENTS}?type=account.unlocked"
    shown = ("", "&days=1", "&days=7", "&days=30", "&days=x")
    assert [len(titles_of(desk.get(query + days))) for days in shown] == [9, 1, 7, 9, 9]
    days = re.findall(r'<tr class="day"><th colspan="4">([^<]+)</th>', desk.get(query))
    assert len({*days}) == 9
    assert all(each.endswith(" (UTC)") for each in days)
    boss.api().patch("/account", json={"time_zone": "Europe/Berlin"})
    assert "(UTC)" not in desk.get(query)


def test_total_is_exact_up_to_a_limit(
    app: Flask, desk: FormClient, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        report(app, account_id=ada.id)
    assert "3 events" in desk.get(f"{EVENTS}?type=account.unlocked")
    monkeypatch.setattr("app.console.audit_log.ROWS", 1)
    assert "3 events" in desk.get(f"{EVENTS}?type=account.unlocked")
    monkeypatch.setattr("app.audit.service.MAX_COUNT", 2)
    assert "More than 2 events" in plain(desk.get(f"{EVENTS}?type=account.unlocked"))


def test_rows_name_their_objects(
    app: Flask, desk: FormClient, garden: FormClient, boss: Person, ada: Person
) -> None:
    api = ada.api()
    api.post("/workspaces", json={"name": "Ferry Café", "slug": "ferry"})
    api.delete("/workspaces/ferry")
    api.post("/workspaces/garden/invitations", 201, json={"emails": ["brandnew@example.com"]})
    sent = {"title": "Storm warning", "message": "Stay inside.", "channels": ["inapp"]}
    boss.api().post("/admin/notifications", 201, json={"data": sent})
    boss.api().patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
    shown = table_of(desk.get(EVENTS))
    for title in (
        "Workspace deleted · Ferry Café",
        "Invitation created · brandnew@example.com · Garden",
        "Broadcast sent · Storm warning",
        "Account suspended · ada@example.com",
    ):
        assert title in shown
    assert "Notification sent" not in shown


def test_name_of_a_personal_workspace_is_not_recorded(app: Flask, boss: Person) -> None:
    grace = boss.api().post("/admin/accounts", 201, json={"email": "grace@example.com"}).json
    boss.api().delete(f"/admin/accounts/{grace['id']}")
    assert [each.data.get("name") for each in records(app, type="workspace.deleted")] == [None]


def test_member_saved_without_a_change_is_not_recorded(
    app: Flask, garden: FormClient, person: MakePerson
) -> None:
    bob = person("bob")
    join(app, bob)
    garden.post(f"/workspaces/garden/members/{bob.id}", type="member", status="active")
    assert records(app, type="member.updated") == []


def test_details_of_a_change_name_its_properties(desk: FormClient, changes: None) -> None:
    page = desk.get(f"{EVENTS}?type=account.updated.suspended")
    assert "<dt>Status</dt>" in page
    assert "<del>active</del> → <ins>suspended</ins>" in page
    assert "suspended_until" not in table_of(page)


def test_entry_links_to_accounts_workspace_and_target(
    app: Flask, desk: FormClient, garden: FormClient, ada: Person, boss: Person
) -> None:
    boss.api().patch(f"/admin/accounts/{ada.id}", json={"role": "admin"})
    page = desk.get(f"{EVENTS}?type=account.updated")
    for account in (ada, boss):
        assert f'href="/admin/accounts/{account.id}">{account.email}</a>' in page
    page = desk.get(f"{EVENTS}?type=workspace.created&account={ada.email}")
    [number] = re.findall(r'href="/admin/workspaces/(\d+)"[^>]*>Garden</a>', page)
    link = f"{EVENTS}?workspace={number}"
    assert f'href="{link}"' in desk.get(f"/admin/workspaces/{number}")
    assert table_of(desk.get(link)).count("Workspace created") == 1
    report(app, target=Target("door", "17"))
    page = desk.get(f"{EVENTS}?type=account.unlocked")
    assert 'href="/admin/events?target=door:17">door:17</a>' in page


def test_date_range_includes_its_last_day(
    app: Flask, ada: Person, boss: Person, clock: SteppingClock
) -> None:
    first = clock.now().date().isoformat()
    report(app, account_id=ada.id)
    clock.step(days=1)
    second = clock.now().date().isoformat()
    report(app, account_id=ada.id)
    desk = FormClient(app, boss)
    found = {
        days: table_of(
            desk.get(f"{EVENTS}?type=account.unlocked&since={days[0]}&until={days[1]}")
        ).count("Account unlocked by an operator")
        for days in ((first, first), (first, second), (second, second))
    }
    assert found == {(first, first): 1, (first, second): 2, (second, second): 1}


def test_page_takes_the_same_number_of_queries_for_more_rows(
    app: Flask,
    desk: FormClient,
    garden: FormClient,
    person: MakePerson,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = []
    for times in (3, 9):
        monkeypatch.setattr("app.console.audit_log.ROWS", times)
        for _ in range(times):
            member = person(f"member{times}-{_}")
            join(app, member)
            report(app, account_id=member.id, target=Target("invitation", 1))
        for pages, path in ((desk, EVENTS), (garden, ACTIVITY)):
            with noted_queries(app) as queries:
                pages.get(path)
            counts.append(len(queries))
    assert counts[:2] == counts[2:]


def test_csv_has_the_entries_of_the_filtered_list(
    app: Flask, desk: FormClient, ada: Person, boss: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.audit.service.BATCH_ROWS", 2)
    for role in ("admin", "user", "admin"):
        boss.api().patch(f"/admin/accounts/{ada.id}", json={"role": role})
    query = f"type=account.updated&account={ada.email}"
    page = unescape(desk.get(f"{EVENTS}?{query}"))
    links = re.findall(r'href="(/admin/events\.\w+\?[^"]+)"', page)
    assert [each.partition("?")[0] for each in links] == [f"{EVENTS}.csv", f"{EVENTS}.jsonl"]
    file = download(desk, links[0])
    assert (file.mimetype, file.is_streamed) == ("text/csv", True)
    rows = read_csv(file.text)
    assert [each["title"] for each in rows] == [
        "Role changed from user to admin",
        "Role changed from admin to user",
        "Role changed from user to admin",
    ]
    assert {(each["actor"], each["account"]) for each in rows} == {(boss.email, ada.email)}
    lines = [orjson.loads(line) for line in download(desk, links[1]).data.splitlines()]
    assert [str(each["id"]) for each in lines] == [each["id"] for each in rows]
    assert [orjson.loads(each["data"]) for each in rows] == [each["data"] for each in lines]


def test_csv_without_entries_has_only_the_columns(desk: FormClient) -> None:
    [columns] = download(desk, f"{EVENTS}.csv?target=door:17").text.splitlines()
    assert columns.startswith('\ufeff"at","title","actor","account","id","type",')


def test_download_with_an_invalid_filter_leads_to_the_page_with_the_error(desk: FormClient) -> None:
    found = desk.browser.client.get(f"{EVENTS}.csv?since=soon", base_url=HOST)
    assert (found.status_code, found.headers["Location"]) == (303, f"{EVENTS}?since=soon")


def test_csv_contains_no_formulas(app: Flask, desk: FormClient, ada: Person) -> None:
    """A visitor chooses the user agent that an admin later opens in a spreadsheet."""
    formula = '=HYPERLINK("https://attacker.example")'
    for agent in (formula, f"x;{formula};y"):
        log_in(Api(app), ada.email, "wrong", 400, headers={"User-Agent": agent})
    text = download(desk, f"{EVENTS}.csv?type=login.failed").text
    agents = [row["user_agent"] for row in read_csv(text)]
    assert agents == [f"'{formula}", f"x;'{formula};y"]
    for separator in ",;\t":
        rows = csv.reader(StringIO(text.removeprefix("\ufeff")), delimiter=separator)
        assert [cell for row in rows for cell in row if cell.startswith("=")] == []


@for_each(
    ("value", "field"),
    [
        ("=1+1", "'=1+1"),
        ("+44 20", "'+44 20"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\t1", "'\t1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ('a";=1+1', "a\";'=1+1"),
        ("x;=1+1;y", "x;'=1+1;y"),
        ('x;"=1+1;y', "x;'\"=1+1;y"),
        ("x; -1;@y", "x;' -1;'@y"),
        ("x\t+1\t\ty", "x\t'+1\t'\ty"),
        ("x\n=1+1\r\ny", "x\n'=1+1\r\ny"),
        ("x,=1", "x,'=1"),
        ("x;\uff1d1", "x;'\uff1d1"),
        ("a, b; c=d", "a, b; c=d"),
        (-1, "-1"),
        (None, ""),
    ],
)
def test_csv_field_is_a_text_to_a_spreadsheet(value: object, field: str) -> None:
    line = csv_lines([[value, "next"]]).decode()
    assert next(csv.reader(StringIO(line, newline=""))) == [field, "next"]
    assert line.startswith('"')


def test_only_admins_download_the_audit_log(app: Flask, ada: Person) -> None:
    for path in (f"{EVENTS}.csv", f"{EVENTS}.jsonl"):
        FormClient(app, ada).get(path, 403)
        assert (
            "/sign-in"
            in FormClient(app).browser.client.get(path, base_url=HOST).headers["Location"]
        )


def test_workspace_owner_filters_the_events_of_the_workspace(
    app: Flask, garden: FormClient, person: MakePerson
) -> None:
    bob, eve = person("bob"), person("eve")
    for member in (bob, eve):
        join(app, member)
    garden.post(f"/workspaces/garden/members/{bob.id}", type="guest")
    found = table_of(garden.get(f"{ACTIVITY}?type=member.updated"))
    assert "Workspace role changed from member to guest · bob@example.com" in found
    assert "added" not in found
    found = table_of(garden.get(f"{ACTIVITY}?account={eve.email}"))
    assert "Workspace member added as member · eve@example.com" in found
    assert "bob@example.com" not in found
    groups = dict(options_of(garden.get(ACTIVITY)))
    assert list(groups) == ["Rejected requests", "Tokens for programs", "Workspaces"]
    assert "The search is invalid." in garden.get(f"{ACTIVITY}?since=soon", 422)
    garden.get(f"{ACTIVITY}?type=nothing", 422)


def test_workspace_download_has_only_entries_of_the_workspace(
    app: Flask, garden: FormClient, person: MakePerson
) -> None:
    bob = person("bob")
    FormClient(app, bob).post("/workspaces/new", name="Orchard")
    join(app, bob)
    for query in ("", "?workspace=1", f"?account={bob.email}"):
        rows = read_csv(download(garden, f"{ACTIVITY}.csv{query}").text)
        lines = [
            orjson.loads(line)
            for line in download(garden, f"{ACTIVITY}.jsonl{query}").data.splitlines()
        ]
        types = [each["type"] for each in rows]
        assert types == [each["type"] for each in lines]
        assert types == (
            ["member.added"] if "account" in query else ["workspace.created", "member.added"]
        )
        assert len({each["workspace_id"] for each in rows}) == 1
        for each in (*rows, *lines):
            assert each.keys() & {"address", "user_agent", "request_id"} == set()


def test_workspace_filter_does_not_reveal_who_has_an_account(
    garden: FormClient, person: MakePerson
) -> None:
    outsider = person("outsider").email
    known, unknown = (
        garden.get(f"{ACTIVITY}?account={email}")
        .replace(email, "EMAIL")
        .replace(email.replace("@", "%40"), "EMAIL")
        for email in (outsider, "unknown@example.com")
    )
    assert "No matching events" in known
    assert known == unknown
    for format in ("csv", "jsonl"):
        files = [
            download(garden, f"{ACTIVITY}.{format}?actor={email}").data
            for email in (outsider, "unknown@example.com")
        ]
        assert files[0] == files[1]


@for_each("path", [ACTIVITY, f"{ACTIVITY}.csv", f"{ACTIVITY}.jsonl"])
def test_only_owners_and_admins_of_the_workspace_see_its_audit_log(
    app: Flask, garden: FormClient, person: MakePerson, path: str
) -> None:
    member, admin, outsider = (person(new_name("member")) for _ in range(3))
    join(app, member).get(path, 403)
    join(app, admin, "admin").get(path)
    FormClient(app, outsider).get(path, 403)


def shown_to_managers(garden: FormClient, owner: Api) -> list[str]:
    """Return everything that shows a workspace's entries to its managers."""
    files = [download(garden, f"{ACTIVITY}.{format}").text for format in ("csv", "jsonl")]
    return [
        table_of(garden.get(ACTIVITY)),
        *files,
        owner.get("/workspaces/garden/events").response.text,
    ]


def test_workspace_does_not_record_who_was_denied_access_as_an_outsider(
    app: Flask, garden: FormClient, desk: FormClient, ada: Person, person: MakePerson
) -> None:
    """A page that redirects to a workspace would collect the addresses of its visitors."""
    before = shown_to_managers(garden, ada.api())
    suspended = person("suspended")
    join(app, suspended)
    garden.post(f"/workspaces/garden/members/{suspended.id}", status="suspended")
    # The next page has the notice of the change.
    garden.get(ACTIVITY)
    joined = shown_to_managers(garden, ada.api())
    outsiders = [person("outsider"), person("staff", role="admin"), person("chief", role="root")]
    for each in (*outsiders, suspended):
        status = 401 if each is suspended else 403
        FormClient(app, each).get("/workspaces/garden", status)
        each.api().get("/workspaces/garden/events", status)
    assert shown_to_managers(garden, ada.api()) == joined != before
    rejected = records(app, type="access.refused")
    assert {(each.actor_id, each.workspace_id) for each in rejected} == {
        (each.id, None) for each in outsiders
    }
    assert table_of(desk.get(f"{EVENTS}?type=access.refused")).count("Access denied") == 6


def test_workspace_records_the_rejected_requests_of_active_members(
    app: Flask, garden: FormClient, ada: Person, person: MakePerson
) -> None:
    member = person("member")
    join(app, member).get(ACTIVITY, 403)
    member.api().get("/workspaces/garden/events", 403)
    assert {(each.actor_id, each.workspace_id) for each in records(app, type="access.refused")} == {
        (member.id, records(app, type="member.added")[0].workspace_id)
    }
    shown = table_of(garden.get(ACTIVITY))
    assert shown.count("Access denied") == 2, shown


def test_earlier_rejected_requests_are_shown_of_members_only(
    app: Flask, garden: FormClient, desk: FormClient, ada: Person, person: MakePerson
) -> None:
    outsider = person("outsider")
    [created] = records(app, type="workspace.created", actor_id=ada.id)
    workspace_id = created.workspace_id
    page = f"/admin/workspaces/{workspace_id}"
    seen = shown_to_managers(garden, ada.api()), table_of(desk.get(page))
    with app.app_context(), transaction(current_frontdesk.session) as session:
        session.add(
            AuditEntry(
                type="access.refused",
                at=created.at + timedelta(days=1),
                actor_kind="account",
                actor_id=outsider.id,
                account_id=outsider.id,
                workspace_id=workspace_id,
                data={"reason": "not_a_member"},
            )
        )
    assert (shown_to_managers(garden, ada.api()), table_of(desk.get(page))) == seen
    assert "Access denied" in desk.get(f"{EVENTS}?workspace={workspace_id}&type=access.refused")
    join(app, outsider)
    for shown in shown_to_managers(garden, ada.api()):
        assert "access.refused" in shown or "Access denied" in shown
    assert "Access denied" in table_of(desk.get(page))


def test_roles_in_titles_are_translated(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    german = {"user": "Benutzer", "admin": "Administrator"}

    def translate(text: str, **values: object) -> Markup:
        return Markup(german.get(text, text)).format(**values)

    monkeypatch.setattr(audit_rows, "_", translate)
    row = {"type": "account.updated", "data": {"before": {"role": "user"}, "after": {"role": "x"}}}
    with app.test_request_context():
        assert audit_rows.entry_title(row) == "Role changed from Benutzer to x"
