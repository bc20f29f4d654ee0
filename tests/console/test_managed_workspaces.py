"""The workspaces for admins: search, pages, and the page of a workspace."""

from __future__ import annotations

import re
from functools import partial

import pytest
from werkzeug.test import TestResponse

from app.testing.database import noted_queries
from app.workspaces.models import Workspace

from ..rigs.console.requests import ask, check_pages, delete_newest, plain_html
from ..rigs.console.world import TEAM, World
from .page_reader import visible_text

LIST = "/admin/workspaces"


def main_of(world: World, path: str, who: str = "admin", status: int = 200) -> str:
    cookie = world.site.cookie_of(world.people[who])
    found = ask(world.site.app, "GET", path, cookie)
    assert found.status_code == status, found.text
    return plain_html(found.text).partition("<main")[2]


def names_in(main: str) -> list[str]:
    return re.findall(r'<a class="through cut" href="[^"]*" dir="auto">([^<]*)</a>', main)


def page_of(world: World, slug: str) -> str:
    """Return the path of a workspace's page, from the list."""
    main = main_of(world, f"{LIST}?search={slug}")
    [path] = set(re.findall(r'href="(/admin/workspaces/\d+)"', main))
    return str(path)


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("eng", ["Engines"]),
        ("ENGINES", ["Engines"]),
        ("gines", []),
        ("ada@", ["Engines", "ada"]),
        ("lovelace", ["Engines", "ada"]),
        # Owners are found from three characters on.
        ("lov", ["Engines", "ada"]),
        ("lo", []),
        ("lace+ada", ["Engines", "ada"]),
        ("Ada@Example.com", ["Engines", "ada"]),
        ("nobody@", []),
        ("%", []),
        ("boss", ["boss"]),
    ],
)
def test_workspaces_are_found_by_name_slug_or_owner(
    world: World, search: str, names: list[str]
) -> None:
    assert names_in(main_of(world, f"{LIST}?search={search}")) == names


def test_many_found_workspaces_are_not_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.workspaces.directory.MAX_FOUND", 1)
    monkeypatch.setattr("app.console.admin.workspaces.MAX_FOUND", 1)
    main = main_of(world, f"{LIST}?search=lovelace")
    assert names_in(main) == ["Engines", "ada"]
    assert "Over 1 workspaces found" in main


def test_owners_of_a_frequent_name_are_found_in_the_newest_workspaces(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"{LIST}?search=example"
    expected = names_in(main_of(world, page))
    assert {"Engines", "ada", "boss"} <= {*expected}
    monkeypatch.setattr("app.accounts.search.MAX_MATCHES", 1)
    assert names_in(main_of(world, page)) == expected
    everyone = names_in(main_of(world, LIST))
    monkeypatch.setattr("app.workspaces.directory.MAX_CHECKED", 3)
    main = main_of(world, page)
    assert names_in(main) == [each for each in everyone[:3] if each in expected]
    assert "Refine the search: only the newest" in main


def test_renamed_workspace_is_found_by_its_name(world: World) -> None:
    world.adas.patch(f"/workspaces/{TEAM}", json={"name": "Analytical Society"})
    assert names_in(main_of(world, f"{LIST}?search=analytical+s")) == ["Analytical Society"]
    assert names_in(main_of(world, f"{LIST}?search={TEAM}")) == ["Analytical Society"]


def test_list_shows_owners_members_and_the_total(world: World) -> None:
    main = main_of(world, LIST)
    assert "6 workspaces" in main
    row = main.partition(">Engines<")[2].partition("</tr>")[0]
    assert f'href="/admin/accounts/{world.ada.id}">{world.ada.email}</a>' in row
    assert '<td data-label="Members" class="number">1</td>' in row
    assert "One workspace found" in main_of(world, f"{LIST}?search=eng")
    assert "No workspaces found" in main_of(world, f"{LIST}?search=zz")


def test_list_has_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.console.admin.workspaces.PER_PAGE", 4)
    first = main_of(world, LIST)
    [path] = re.findall(r'href="([^"]*)"[^>]*rel="next"', first)
    second = main_of(world, path)
    assert len(names_in(first)) == 4
    assert len(names_in(second)) == 2
    assert not set(names_in(first)) & set(names_in(second))
    assert "First page" in second
    monkeypatch.setattr("app.console.admin.workspaces.PER_PAGE", 2)
    for path in (LIST, f"{LIST}?search=example"):
        check_pages(partial(main_of, world), path, lambda: delete_newest(world, Workspace))


def test_page_shows_members_invitations_and_events(world: World) -> None:
    path = page_of(world, TEAM)
    main = main_of(world, path)
    assert f'href="/admin/accounts/{world.ada.id}"' in main
    assert "charles@example.com" in main
    assert "Workspace created" in main
    events = main_of(world, f"/admin/events?workspace={path.rpartition('/')[2]}")
    assert f'href="{path}"' in events
    assert f'href="/admin/events?workspace={path.rpartition("/")[2]}"' in main


def test_page_of_an_account_links_to_its_workspaces(world: World) -> None:
    main = main_of(world, f"/admin/accounts/{world.ada.id}?tab=workspaces")
    assert f'href="{page_of(world, TEAM)}"' in main


def test_unknown_workspace_is_not_found(world: World) -> None:
    main_of(world, f"{LIST}/999999", status=404)


@pytest.mark.parametrize("who", ["owner", "new_user"])
def test_only_admins_see_all_workspaces(world: World, who: str) -> None:
    main_of(world, LIST, who, status=403)
    main_of(world, page_of(world, TEAM), who, status=403)


def test_pages_take_a_fixed_number_of_queries(world: World) -> None:
    cookie = world.site.cookie_of(world.people["admin"])
    searched = f"{LIST}?search=lovelace"
    for path, most in ((LIST, 8), (searched, 15), (page_of(world, TEAM), 15)):
        with noted_queries(world.site.app) as statements:
            ask(world.site.app, "GET", path, cookie)
        assert len(statements) <= most, statements


def send_to(world: World, path: str, who: str = "admin", **fields: str) -> TestResponse:
    cookie = world.site.cookie_of(world.people[who])
    return ask(world.site.app, "POST", path, cookie, data=fields)


def rejection(answer: TestResponse, status: int) -> str:
    assert answer.status_code == status, answer.text
    return visible_text(answer.text)


def last_action(world: World, path: str, who: str = "root") -> str:
    """Return the newest entry of the audit log about the workspace."""
    events = main_of(world, f"/admin/events?workspace={path.rpartition('/')[2]}", who)
    return visible_text(events.partition('class="lines')[2] or events)


def test_admin_appoints_an_owner(world: World) -> None:
    path, grace = page_of(world, TEAM), world.people["new_user"]
    answer = send_to(world, f"{path}/owners", email=grace.email.upper())
    assert answer.headers["Location"] == path
    pairs = main_of(world, path).partition(">Owners<")[2].partition("</dd>")[0]
    assert grace.email in pairs
    assert world.ada.email in pairs
    # Appointing the owner again changes nothing.
    assert send_to(world, f"{path}/owners", email=grace.email).status_code == 303
    actions = last_action(world, path)
    assert actions.count("Workspace member added as owner") == 1
    assert world.people["admin"].email in actions


def test_owner_is_an_active_account_that_the_admin_may_manage(world: World) -> None:
    path = f"{page_of(world, TEAM)}/owners"
    for email, status, text in (
        ("nobody@example.com", 404, "No account has this email address."),
        ("", 404, "No account has this email address."),
        (world.suspended.email, 422, "This account is not active."),
        (world.people["admin"].email, 403, "cannot change their own account"),
        (world.people["root"].email, 403, "does not have permission"),
    ):
        assert text in rejection(send_to(world, path, email=email), status)
    assert send_to(world, path, "root", email=world.people["admin"].email).status_code == 303
    assert send_to(world, f"{LIST}/999999/owners", email=world.ada.email).status_code == 404


def test_admin_deletes_a_workspace_after_its_name_is_entered(world: World) -> None:
    path = page_of(world, TEAM)
    wrong = rejection(send_to(world, f"{path}/delete", name="Engine"), 422)
    assert "This is not the name of the workspace." in wrong
    assert send_to(world, f"{path}/delete").status_code == 422
    assert send_to(world, f"{path}/delete", name="Engines").headers["Location"] == LIST
    main_of(world, path, status=404)
    assert world.adas.get(f"/workspaces/{TEAM}/members", 404)
    actions = last_action(world, path)
    assert "Workspace deleted" in actions
    assert world.people["admin"].email in actions
    assert send_to(world, f"{path}/delete", name="Engines").status_code == 404


def test_admin_deletes_no_workspace_of_a_root(world: World) -> None:
    path = page_of(world, "root")
    rejected = rejection(send_to(world, f"{path}/delete", name="root"), 403)
    assert "Only root and the owners can delete it." in rejected
    assert f'action="{path}/delete"' not in main_of(world, path)
    assert f'action="{path}/delete"' in main_of(world, path, "root")
    assert send_to(world, f"{page_of(world, 'boss')}/delete", name="boss").status_code == 303
    assert send_to(world, f"{path}/delete", "root", name="root").status_code == 303


@pytest.mark.parametrize(("form", "field"), [("owners", "email"), ("delete", "name")])
def test_changes_of_a_workspace_need_an_admin_with_a_recent_sign_in(
    world: World, form: str, field: str
) -> None:
    path = f"{page_of(world, TEAM)}/{form}"
    assert send_to(world, path, "owner", **{field: world.ada.email}).status_code == 403
    cookie = world.site.cookie_of(world.people["admin"])
    world.site.clock.step(minutes=16)
    answer = ask(world.site.app, "POST", path, cookie, data={field: world.ada.email})
    assert answer.headers["Location"].startswith("/confirm")


def test_deletion_of_a_sole_owner_names_the_workspaces_instead_of_the_form(world: World) -> None:
    path = page_of(world, TEAM)
    adding = ["workspaces", "add", TEAM, world.people["new_user"].email]
    assert world.site.app.test_cli_runner().invoke(args=adding).exit_code == 0
    page = f"/admin/accounts/{world.ada.id}/delete"
    main = main_of(world, page)
    assert f'<a href="{path}" dir="auto">Engines</a>' in main
    assert "<form" not in main.partition("</main>")[0]
    rejection(send_to(world, page, email=world.ada.email), 409)
    send_to(world, f"{path}/owners", email=world.people["new_user"].email)
    assert "Enter the account's email address" in main_of(world, page)
