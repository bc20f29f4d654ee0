"""The admin's pages about accounts: found, looked at, and changed as the API lets them be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.testing.database import noted_queries

from ..rigs.console.requests import ask
from ..rigs.console.world import World

MALLORY = "mallory@example.com"


class Desk:
    """Somebody's browser without script, who reads the text of pages."""

    def __init__(self, world: World, who: str) -> None:
        self.world = world
        self.app = world.site.app
        self.cookie = world.site.cookie_of(world.people[who])

    def get(self, path: str, expected: int = 200, **query: Any) -> str:
        answer = ask(self.app, "GET", path, self.cookie, query_string=query or None)
        assert answer.status_code == expected, answer.text.partition("<main")[2][:3000]
        return unescape(answer.text)

    def send(self, path: str, expected: int = 303, **fields: Any) -> TestResponse:
        answer = ask(self.app, "POST", path, self.cookie, data=fields)
        assert answer.status_code == expected, answer.text.partition("<main")[2][:3000]
        return answer

    def told(self, path: str, expected: int = 422, **fields: Any) -> str:
        return unescape(self.send(path, expected, **fields).text)


@pytest.fixture
def boss(world: World) -> Desk:
    return Desk(world, "admin")


@pytest.fixture
def root(world: World) -> Desk:
    return Desk(world, "root")


def of(account_id: Any, deed: str = "") -> str:
    return f"/admin/accounts/{account_id}{deed}"


def details(world: World, account_id: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = world.bosses.get(f"/admin/accounts/{account_id}").json
    return found


def test_accounts_are_found_by_how_their_address_begins(boss: Desk) -> None:
    page = boss.get("/admin/accounts", search="MALL")
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
def test_accounts_are_filtered(boss: Desk, query: Any, there: str, gone: str) -> None:
    main = boss.get("/admin/accounts", **query).partition("<main")[2]
    assert there in main
    assert gone not in main


def test_what_cannot_be_looked_for_is_said_in_place(boss: Desk) -> None:
    page = boss.get("/admin/accounts", 422, created_after="soon", search="ada")
    assert "Created after: Enter a valid date." in page
    assert 'value="ada"' in page


def test_a_page_leads_on_to_the_next_one(
    world: World, boss: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.admin.accounts.ROWS", 2)
    seen, path = [], "/admin/accounts?sort=email"
    while path:
        main = boss.get(path).partition("<main")[2]
        seen += [email for email in sorted(addresses(world)) if f">{email}<" in main]
        _, _, link = main.partition('rel="next"')
        before = main[: main.find('rel="next"')] if link else ""
        path = before.rpartition('href="')[2].partition('"')[0]
    assert seen == sorted(addresses(world))


def addresses(world: World) -> list[str]:
    return [row["email"] for row in world.bosses.get("/admin/accounts").json]


def test_a_page_of_accounts_costs_as_many_queries_as_one_of_them(world: World, boss: Desk) -> None:
    boss.get("/admin/accounts")
    counts = []
    queries: list[dict[str, Any]] = [{"search": "mallory"}, {}]
    for query in queries:
        with noted_queries(world.site.app) as statements:
            boss.get("/admin/accounts", **query)
        counts.append(len(statements))
    # Who asks, their face and what they have not read; the accounts, and their faces.
    assert counts[0] == counts[1] <= 6, statements


def test_everything_about_an_account_is_on_one_page(world: World, boss: Desk) -> None:
    page = boss.get(of(world.ada.id))
    for text in ("Ada Lovelace", "Engines", "Werkzeug", "For everyone", "Signed in"):
        assert text in page, text


def test_one_account_costs_a_fixed_number_of_queries(world: World, boss: Desk) -> None:
    boss.get(of(world.ada.id))
    with noted_queries(world.site.app) as statements:
        boss.get(of(world.ada.id))
    assert len(statements) <= 16, "\n".join(statements)


def test_nobody_is_there_under_an_id_that_is_not(boss: Desk) -> None:
    assert "Page not found" in boss.get(of(10**9), 404)


def test_an_account_is_made_with_an_invitation(world: World, boss: Desk) -> None:
    form: dict[str, Any] = {
        "email": "New@Example.com",
        "way": "invite",
        "role": "user",
        "phone": "",
    }
    answer = boss.send("/admin/accounts/new", **form)
    made = world.bosses.get("/admin/accounts?search=new@example.com").json[0]
    assert answer.headers["Location"] == of(made["id"])
    assert not made["has_password"]
    assert [mail.to for mail in world.site.mails.sent][-1] == "new@example.com"


def test_an_account_is_made_with_a_password(world: World, boss: Desk) -> None:
    form: dict[str, Any] = {
        "email": "new@example.com",
        "way": "password",
        "password": "a fine long password",
    }
    boss.send("/admin/accounts/new", **form)
    assert world.bosses.get("/admin/accounts?search=new@example.com").json[0]["has_password"]


@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ({"email": "x@", "way": "invite"}, 422, "Enter a valid email address."),
        ({"email": MALLORY, "way": "invite"}, 409, "already"),
        ({"email": "x@example.com", "way": "password", "password": "short"}, 422, "at least"),
        ({"email": "x@example.com", "way": "none", "phone": "12"}, 422, "hone"),
        (
            {"email": "x@example.com", "way": "none", "role": "root"},
            403,
            "does not have permission",
        ),
    ],
)
def test_what_is_wrong_with_a_new_account_is_said_in_place(
    boss: Desk, form: Any, status: int, text: str
) -> None:
    page = boss.told("/admin/accounts/new", status, **form)
    assert text in page
    assert f'value="{form["email"]}"' in page
    assert "short" not in page


def test_roles_are_offered_as_far_as_the_caller_goes(boss: Desk, root: Desk) -> None:
    assert '<option value="admin"' not in boss.get("/admin/accounts/new")
    assert '<option value="root"' in root.get("/admin/accounts/new")


def test_an_account_is_suspended_for_a_week_and_comes_back(world: World, boss: Desk) -> None:
    form: dict[str, Any] = {"length": "7", "suspended_reason": "Sells beans"}
    answer = boss.send(of(world.ada.id, "/suspend"), **form)
    assert answer.headers["Location"] == of(world.ada.id)
    found = details(world, world.ada.id)
    assert (found["status"], found["suspended_reason"]) == ("suspended", "Sells beans")
    assert found["suspended_until"] is not None
    assert "Sells beans" in boss.get(of(world.ada.id))
    boss.send(of(world.ada.id, "/change"), status="active")
    assert details(world, world.ada.id)["status"] == "active"


def test_a_suspension_needs_no_end(world: World, boss: Desk) -> None:
    boss.send(of(world.ada.id, "/suspend"), length="open")
    assert details(world, world.ada.id)["suspended_until"] is None


@pytest.mark.parametrize(
    ("day", "text"), [("", "Choose a date."), ("2001-02-03", "Choose a date in the future.")]
)
def test_a_day_that_no_suspension_can_end_on_is_refused(
    world: World, boss: Desk, day: str, text: str
) -> None:
    form: dict[str, Any] = {
        "length": "day",
        "suspended_until": day,
        "suspended_reason": "Sells beans",
    }
    page = boss.told(of(world.ada.id, "/suspend"), **form)
    assert text in page
    assert "Sells beans" in page
    assert details(world, world.ada.id)["status"] == "active"


def test_root_makes_an_admin(world: World, root: Desk) -> None:
    root.send(of(world.ada.id, "/change"), role="admin")
    assert details(world, world.ada.id)["role"] == "admin"


def test_root_role_needs_a_confirmation(world: World, root: Desk) -> None:
    page = root.send(of(world.ada.id, "/change"), 200, role="root").text
    assert "Give ada@example.com the role root?" in unescape(page)
    assert details(world, world.ada.id)["role"] == "user"
    root.send(of(world.ada.id, "/change"), role="root", confirmed="true")
    assert details(world, world.ada.id)["role"] == "root"


def test_change_of_a_role_can_be_undone(world: World, root: Desk) -> None:
    answer = root.send(of(world.ada.id, "/change"), role="admin")
    cookie = f"{root.cookie}; {answer.headers['Set-Cookie'].partition(';')[0]}"
    page = ask(root.app, "GET", of(world.ada.id), cookie).text
    notice = page.partition('class="toast')[2].partition("</form>")[0]
    undo = dict(re.findall(r'name="(\w+)" value="(\w+)"', notice))
    assert undo == {"role": "user", "confirmed": "true"}
    root.send(of(world.ada.id, "/change"), **undo)
    assert details(world, world.ada.id)["role"] == "user"


def test_what_became_of_a_role_is_said_where_it_was_refused(world: World, boss: Desk) -> None:
    assert "does not have permission" in boss.told(of(world.ada.id, "/change"), 403, role="root")
    assert details(world, world.ada.id)["role"] == "user"


@pytest.mark.parametrize("deed", ["recovery", "sign-out", "unlock", "verify"])
def test_what_is_done_for_an_account_leads_back_to_it(world: World, boss: Desk, deed: str) -> None:
    answer = boss.send(of(world.ada.id, f"/{deed}"))
    assert answer.headers["Location"] == of(world.ada.id)


def test_a_new_password_is_mailed(world: World, boss: Desk) -> None:
    boss.send(of(world.ada.id, "/recovery"))
    assert world.site.mails.sent[-1].to == world.ada.email


def test_who_is_signed_out_is_signed_in_nowhere(world: World, boss: Desk) -> None:
    assert "Werkzeug" in boss.get(of(world.ada.id))
    boss.send(of(world.ada.id, "/sign-out"))
    assert "No active sessions" in boss.get(of(world.ada.id))


def test_an_account_is_deleted_by_its_address(world: World, boss: Desk) -> None:
    mallory = world.suspended.id
    assert MALLORY in boss.get(of(mallory, "/delete"))
    assert "This is not the account's email address." in boss.told(
        of(mallory, "/delete"), email="x@example.com"
    )
    assert "Enter 1 to 320 characters." in boss.told(of(mallory, "/delete"))
    boss.get(of(mallory))
    boss.send(of(mallory, "/delete"), email=MALLORY.upper())
    boss.get(of(mallory), 404)


OFFERED: Mapping[str, Callable[[World], Any]] = {
    "root": lambda world: world.people["root"].id,
    "themselves": lambda world: world.people["admin"].id,
}


@pytest.mark.parametrize("whom", OFFERED)
def test_nothing_is_offered_that_the_caller_may_not_do(world: World, boss: Desk, whom: str) -> None:
    account_id = OFFERED[whom](world)
    main = boss.get(of(account_id)).partition("<main")[2]
    assert "<form" not in main
    for deed in ("/suspend", "/delete"):
        assert "<form" not in boss.get(of(account_id, deed)).partition("<main")[2]


def test_second_factors_are_taken_away_by_root_alone(world: World, boss: Desk, root: Desk) -> None:
    boss.send(of(world.ada.id, "/factors"), 403)
    root.send(of(world.ada.id, "/factors"))


def test_accounts_are_no_ones_but_the_admins_to_look_at(world: World) -> None:
    ada = Desk(world, "owner")
    for path in ("/admin", "/admin/accounts", "/admin/events", of(world.ada.id)):
        ada.get(path, 403)
        assert ask(world.site.app, "GET", path).status_code == 303
