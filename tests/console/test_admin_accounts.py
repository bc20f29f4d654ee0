"""Accounts on the admin pages: search, details and changes, as the API allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.testing.database import noted_queries

from ..rigs.console.requests import ask, plain_html
from ..rigs.console.world import World
from .form_client import FormClient
from .page_reader import notice_of

MALLORY = "mallory@example.com"


class AdminClient:
    """A client of a signed-in user, without JavaScript."""

    def __init__(self, world: World, who: str) -> None:
        self.world = world
        self.app = world.site.app
        self.cookie = world.site.cookie_of(world.people[who])

    def get(self, path: str, expected: int = 200, **query: Any) -> str:
        answer = ask(self.app, "GET", path, self.cookie, query_string=query or None)
        assert answer.status_code == expected, answer.text.partition("<main")[2][:3000]
        return plain_html(answer.text)

    def send(self, path: str, expected: int = 303, **fields: Any) -> TestResponse:
        answer = ask(self.app, "POST", path, self.cookie, data=fields)
        assert answer.status_code == expected, answer.text.partition("<main")[2][:3000]
        return answer

    def send_rejected(self, path: str, expected: int = 422, **fields: Any) -> str:
        return plain_html(self.send(path, expected, **fields).text)


@pytest.fixture
def admin(world: World) -> AdminClient:
    return AdminClient(world, "admin")


@pytest.fixture
def root(world: World) -> AdminClient:
    return AdminClient(world, "root")


def account_path(account_id: Any, action: str = "") -> str:
    return f"/admin/accounts/{account_id}{action}"


def details(world: World, account_id: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = world.bosses.get(f"/admin/accounts/{account_id}").json
    return found


def test_accounts_are_found_by_a_part_of_the_email_address(admin: AdminClient) -> None:
    page = admin.get("/admin/accounts", search="MALL")
    assert MALLORY in page
    assert "grace@example.com" not in page


@pytest.mark.parametrize(
    ("query", "there", "gone"),
    [
        ({"status": "suspended"}, MALLORY, "grace@example.com"),
        ({"role": "root"}, "root@example.com", MALLORY),
        ({"mfa": "true"}, "No accounts found", MALLORY),
        ({"created_after": "2001-02-03"}, MALLORY, "No accounts found"),
        ({"last_login_before": "2001-02-03"}, MALLORY, "ada@example.com"),
    ],
)
def test_accounts_are_filtered(admin: AdminClient, query: Any, there: str, gone: str) -> None:
    main = admin.get("/admin/accounts", **query).partition("<main")[2]
    assert there in main
    assert gone not in main


def test_empty_filters_are_not_in_the_url(world: World, admin: AdminClient) -> None:
    for query, kept in (
        ("search=mall&status=&role=", "search=mall"),
        ("search=%C3%A9&status=&flag", "search=%C3%A9&flag"),
        ("search=é&status=", "search=%C3%A9"),
    ):
        found = ask(world.site.app, "GET", f"/admin/accounts?{query}", admin.cookie)
        assert (found.status_code, found.headers["Location"]) == (303, f"/admin/accounts?{kept}")


def test_invalid_filter_is_reported_with_its_label(admin: AdminClient) -> None:
    page = admin.get("/admin/accounts", 422, created_after="soon", search="ada")
    assert "Created after: Enter a valid date." in page
    assert 'value="ada"' in page


def test_list_links_to_the_next_page(
    world: World, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.admin.accounts.ROWS", 2)
    seen, ranges, path = [], [], "/admin/accounts?sort=email"
    while path:
        main = admin.get(path).partition("<main")[2]
        seen += [email for email in sorted(addresses(world)) if f">{email}<" in main]
        shown = main.partition('aria-label="Pages"><span>')[2].partition("<")[0]
        ranges.append(shown.strip().replace("\N{EN DASH}", "-"))
        _, _, link = main.partition('rel="next"')
        before = main[: main.find('rel="next"')] if link else ""
        path = before.rpartition('href="')[2].partition('"')[0]
    assert seen == sorted(addresses(world))
    assert ranges == ["1-2 of 5", "3-4 of 5", "5-5 of 5"]


def addresses(world: World) -> list[str]:
    return [row["email"] for row in world.bosses.get("/admin/accounts").json]


def test_list_takes_the_same_number_of_queries_for_any_number_of_accounts(
    world: World, admin: AdminClient
) -> None:
    admin.get("/admin/accounts")
    counts = []
    queries: list[dict[str, Any]] = [{"search": "mallory"}, {}]
    for query in queries:
        with noted_queries(world.site.app) as statements:
            admin.get("/admin/accounts", **query)
        counts.append(len(statements))
    # The caller, their name, unread count and banners; the accounts, and their names. A search
    # first decides how to search, and finds the matches.
    assert counts[0] - 2 == counts[1] <= 7, statements


def test_account_page_shows_all_data_of_the_account(world: World, admin: AdminClient) -> None:
    admin.send(account_path(world.ada.id, "/notes"), text="Asked for a refund.")
    for tab, texts in TABS.items():
        main = admin.get(account_path(world.ada.id), tab=tab).partition("<main")[2]
        assert re.findall(r'\?tab=\w+" aria-current="page"', main) == [
            f'?tab={tab}" aria-current="page"'
        ] * (tab != "activity")
        assert 'Notes<span class="count">1</span>' in main
        for text in ("Ada Lovelace", f'data-copy="{world.ada.id}"'):
            assert text in main, (tab, text)
        shown = main.partition('aria-label="This account"')[2]
        others = [text for each in TABS if each != tab for text in TABS[each]]
        assert [text for text in [*texts, *others] if text in shown] == [*texts], tab


# What a tab shows, and no other tab.
TABS = {
    "activity": ("Recent events", "Signed in"),
    "sessions": ("Werkzeug",),
    "workspaces": ("Engines",),
    "messages": ("For everyone",),
    "notes": ("Asked for a refund.", "Save note"),
}


@pytest.mark.parametrize("query", [{}, {"tab": "unknown"}])
def test_first_tab_of_an_account_is_its_activity(
    world: World, admin: AdminClient, query: Any
) -> None:
    assert "Recent events" in admin.get(account_path(world.ada.id), **query)


def test_admin_has_no_tab_with_the_notes_about_themselves(world: World, admin: AdminClient) -> None:
    main = admin.get(account_path(world.people["admin"].id), tab="notes").partition("<main")[2]
    assert "Recent events" in main
    assert "?tab=notes" not in main


@pytest.mark.parametrize("tab", TABS)
def test_tab_of_an_account_takes_a_fixed_number_of_queries(
    world: World, admin: AdminClient, tab: str
) -> None:
    admin.get(account_path(world.ada.id), tab=tab)
    with noted_queries(world.site.app) as statements:
        admin.get(account_path(world.ada.id), tab=tab)
    assert len(statements) <= 16, "\n".join(statements)


def test_account_page_offers_only_actions_that_apply(
    world: World, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [admin.get(account_path(each.id)) for each in (world.ada, world.suspended)]
    assert [text in pages[0] for text in ("Suspend…", "Deactivate", "Send password")] == [True] * 3
    assert [text in pages[1] for text in ("Reactivate", "Change suspension…")] == [True] * 2
    assert [text in pages[1] for text in ("Suspend…", "Deactivate", "Send password")] == [False] * 3
    for page in pages:
        assert "Unlock account" not in page
        assert "Verify email address" not in page
        assert "No profile yet" not in page
    monkeypatch.setattr("app.auth.limits.Failures.locked_seconds", lambda _self, _email: 90)
    page = admin.get(account_path(world.ada.id))
    assert "Unlock account" in page
    assert "blocked for 2 minutes" in page


def test_account_page_shows_a_pending_change_of_the_address(
    world: World, admin: AdminClient
) -> None:
    path = account_path(world.ada.id)
    assert "waits for confirmation" not in admin.get(path)
    form: dict[str, Any] = {"email": "ada@new.example", "method": "confirm"}
    admin.send(f"{path}/email", **form)
    assert "ada@new.example" in admin.get(path).partition("waits for confirmation")[0]


def test_unknown_account_is_not_found(admin: AdminClient) -> None:
    assert "Page not found" in admin.get(account_path(10**9), 404)


def test_account_is_created_with_an_invitation(world: World, admin: AdminClient) -> None:
    form: dict[str, Any] = {
        "email": "New@Example.com",
        "way": "invite",
        "role": "user",
        "phone": "",
    }
    answer = admin.send("/admin/accounts/new", **form)
    made = world.bosses.get("/admin/accounts?search=new@example.com").json[0]
    assert answer.headers["Location"] == account_path(made["id"])
    assert not made["has_password"]
    assert [mail.to for mail in world.site.mails.sent][-1] == "new@example.com"


def test_account_is_created_with_a_password(world: World, admin: AdminClient) -> None:
    form: dict[str, Any] = {
        "email": "new@example.com",
        "way": "password",
        "password": "a fine long password",
    }
    admin.send("/admin/accounts/new", **form)
    assert world.bosses.get("/admin/accounts?search=new@example.com").json[0]["has_password"]


@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ({"email": "x@", "way": "invite"}, 422, "Enter a valid email address."),
        ({"email": MALLORY, "way": "invite"}, 409, "already"),
        ({"email": "x@example.com", "way": "password", "password": "brief!7"}, 422, "at least"),
        ({"email": "x@example.com", "way": "none", "phone": "12"}, 422, "hone"),
        (
            {"email": "x@example.com", "way": "none", "role": "root"},
            403,
            "does not have permission",
        ),
    ],
)
def test_new_account_form_shows_its_errors(
    admin: AdminClient, form: Any, status: int, text: str
) -> None:
    page = admin.send_rejected("/admin/accounts/new", status, **form)
    assert text in page
    assert f'value="{form["email"]}"' in page
    assert "brief!7" not in page


def test_form_offers_only_roles_that_the_caller_may_assign(
    admin: AdminClient, root: AdminClient
) -> None:
    assert '<option value="admin"' not in admin.get("/admin/accounts/new")
    assert '<option value="root"' in root.get("/admin/accounts/new")


def test_account_is_suspended_for_a_week_and_reactivated(world: World, admin: AdminClient) -> None:
    form: dict[str, Any] = {"length": "7", "suspended_reason": "Sells beans"}
    answer = admin.send(account_path(world.ada.id, "/suspend"), **form)
    assert answer.headers["Location"] == account_path(world.ada.id)
    found = details(world, world.ada.id)
    assert (found["status"], found["suspended_reason"]) == ("suspended", "Sells beans")
    assert found["suspended_until"] is not None
    assert "Sells beans" in admin.get(account_path(world.ada.id))
    admin.send(account_path(world.ada.id, "/change"), status="active")
    assert details(world, world.ada.id)["status"] == "active"


def test_account_is_suspended_without_an_end(world: World, admin: AdminClient) -> None:
    admin.send(account_path(world.ada.id, "/suspend"), length="open")
    assert details(world, world.ada.id)["suspended_until"] is None


@pytest.mark.parametrize(
    ("day", "text"), [("", "Choose a date."), ("2001-02-03", "Choose a date in the future.")]
)
def test_invalid_end_of_a_suspension_is_rejected(
    world: World, admin: AdminClient, day: str, text: str
) -> None:
    form: dict[str, Any] = {
        "length": "day",
        "suspended_until": day,
        "suspended_reason": "Sells beans",
    }
    page = admin.send_rejected(account_path(world.ada.id, "/suspend"), **form)
    assert text in page
    assert "Sells beans" in page
    assert details(world, world.ada.id)["status"] == "active"


def test_root_gives_the_role_admin(world: World, root: AdminClient) -> None:
    root.send(account_path(world.ada.id, "/change"), role="admin")
    assert details(world, world.ada.id)["role"] == "admin"


def test_root_role_needs_a_confirmation(world: World, root: AdminClient) -> None:
    page = root.send(account_path(world.ada.id, "/change"), 200, role="root").text
    assert "Give ada@example.com the role root?" in plain_html(page)
    assert details(world, world.ada.id)["role"] == "user"
    root.send(account_path(world.ada.id, "/change"), role="root", confirmed="true")
    assert details(world, world.ada.id)["role"] == "root"


def test_change_of_a_role_can_be_undone(world: World, root: AdminClient) -> None:
    answer = root.send(account_path(world.ada.id, "/change"), role="admin")
    cookie = f"{root.cookie}; {answer.headers['Set-Cookie'].partition(';')[0]}"
    page = ask(root.app, "GET", account_path(world.ada.id), cookie).text
    notice = page.partition('class="toast')[2].partition("</form>")[0]
    undo = dict(re.findall(r'name="(\w+)" value="(\w+)"', notice))
    assert undo == {"role": "user", "confirmed": "true"}
    root.send(account_path(world.ada.id, "/change"), **undo)
    assert details(world, world.ada.id)["role"] == "user"


def test_rejected_role_is_reported_on_the_page(world: World, admin: AdminClient) -> None:
    assert "does not have permission" in admin.send_rejected(
        account_path(world.ada.id, "/change"), 403, role="root"
    )
    assert details(world, world.ada.id)["role"] == "user"


@pytest.mark.parametrize("action", ["recovery", "sign-out", "unlock", "verify"])
def test_action_on_an_account_returns_to_its_page(
    world: World, admin: AdminClient, action: str
) -> None:
    answer = admin.send(account_path(world.ada.id, f"/{action}"))
    assert answer.headers["Location"] == account_path(world.ada.id)


def test_password_reset_is_emailed(world: World, admin: AdminClient) -> None:
    admin.send(account_path(world.ada.id, "/recovery"))
    assert world.site.mails.sent[-1].to == world.ada.email


def test_signing_out_an_account_ends_all_its_sessions(world: World, admin: AdminClient) -> None:
    assert "Werkzeug" in admin.get(account_path(world.ada.id), tab="sessions")
    admin.send(account_path(world.ada.id, "/sign-out"))
    assert "No active sessions" in admin.get(account_path(world.ada.id), tab="sessions")


def test_admin_signs_out_one_device_of_an_account(world: World) -> None:
    pages = FormClient(world.site.app, world.people["admin"])
    tab = f"{account_path(world.ada.id)}?tab=sessions"
    newest = next(each for each in world.adas.get("/sessions").json if each["kind"] == "cookie")
    ends = re.findall(r'action="(\S+/sessions/\S+/end)"', pages.get(tab))
    ended = account_path(world.ada.id, f"/sessions/{newest['id']}/end")
    assert ended in ends
    assert pages.post(ended).headers["Location"] == tab
    shown = pages.get(tab)
    assert notice_of(shown) == "Signed out Werkzeug."
    assert re.findall(r'action="(\S+/sessions/\S+/end)"', shown) == [
        each for each in ends if each != ended
    ]
    assert "The session does not exist" in pages.post(ended, 404).text
    # Admins manage neither root accounts nor their own.
    for other in ("admin", "root"):
        assert "/sessions/" not in pages.get(f"{account_path(world.people[other].id)}?tab=sessions")


def test_account_is_deleted_after_its_email_address_is_entered(
    world: World, admin: AdminClient
) -> None:
    mallory = world.suspended.id
    assert MALLORY in admin.get(account_path(mallory, "/delete"))
    assert "This is not the account's email address." in admin.send_rejected(
        account_path(mallory, "/delete"), email="x@example.com"
    )
    assert "This field is required." in admin.send_rejected(account_path(mallory, "/delete"))
    admin.get(account_path(mallory))
    admin.send(account_path(mallory, "/delete"), email=MALLORY.upper())
    admin.get(account_path(mallory), 404)


OFFERED: Mapping[str, Callable[[World], Any]] = {
    "root": lambda world: world.people["root"].id,
    "themselves": lambda world: world.people["admin"].id,
}


@pytest.mark.parametrize("target", OFFERED)
def test_page_offers_only_actions_that_the_caller_may_perform(
    world: World, admin: AdminClient, target: str
) -> None:
    account_id = OFFERED[target](world)
    main = admin.get(account_path(account_id)).partition("<main")[2]
    assert "<form" not in main
    for action in ("/suspend", "/delete"):
        assert "<form" not in admin.get(account_path(account_id, action)).partition("<main")[2]


def test_only_root_resets_two_factor_authentication(
    world: World, admin: AdminClient, root: AdminClient
) -> None:
    admin.send(account_path(world.ada.id, "/factors"), 403)
    root.send(account_path(world.ada.id, "/factors"))


def test_only_admins_see_accounts(world: World) -> None:
    ada = AdminClient(world, "owner")
    for path in ("/admin", "/admin/accounts", "/admin/events", account_path(world.ada.id)):
        ada.get(path, 403)
        assert ask(world.site.app, "GET", path).status_code == 303
