"""The workspaces for admins: search, pages, and the page of a workspace."""

from __future__ import annotations

import re
from functools import partial

import pytest

from app.testing.database import noted_queries
from app.workspaces.models import Workspace

from ..rigs.console.requests import ask, check_pages, delete_newest, plain_html
from ..rigs.console.world import TEAM, World

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
    # Admins read other workspaces and change nothing.
    assert "<form" not in main.partition("</main>")[0]


def test_page_of_an_account_links_to_its_workspaces(world: World) -> None:
    main = main_of(world, f"/admin/accounts/{world.ada.id}")
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
    for path, most in ((LIST, 8), (searched, 15), (page_of(world, TEAM), 14)):
        with noted_queries(world.site.app) as statements:
            ask(world.site.app, "GET", path, cookie)
        assert len(statements) <= most, statements
