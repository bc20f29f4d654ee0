"""Finding accounts: search, filters, orders and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each

ACCOUNTS = "/admin/accounts"
FIELDS = {
    "id",
    "email",
    "status",
    "role",
    "phone",
    "last_login_date",
    "current_workspace_id",
    "created_at",
    "email_verified",
    "locale",
    "time_zone",
    "has_password",
    "suspended_until",
    "suspended_reason",
}


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="root")


@pytest.fixture
def boss(root: Person) -> Api:
    return root.api()


def emails(response: Answer) -> list[str]:
    return [account["email"].partition("@")[0] for account in response.json]


def find(boss: Api, **query: Any) -> list[str]:
    return emails(boss.get(ACCOUNTS, query_string=query))


def pages(boss: Api, between: Any = None, **query: Any) -> Iterator[list[str]]:
    """Follow the `Link` of each page."""
    response = boss.get(ACCOUNTS, query_string=query)
    yield emails(response)
    while "Link" in response.headers:
        if between is not None:
            between()
        found = re.match(r'</api/v1(/admin/accounts\S+)>; rel="next"', response.headers["Link"])
        if found is None:
            assert re.fullmatch(r'<\S+before=\S+>; rel="prev"', response.headers["Link"])
            return
        response = boss.get(found[1])
        yield emails(response)


def test_list_is_newest_first_with_all_fields(boss: Api, person: MakePerson) -> None:
    person("ada", phone="+491701234567")
    response = boss.get(ACCOUNTS)
    assert emails(response) == ["ada", "root"]
    assert response.headers["X-Total-Count"] == "2"
    ada = response.json[0]
    assert set(ada) == FIELDS
    assert (ada["status"], ada["role"], ada["phone"]) == ("active", "user", "+491701234567")
    assert (ada["email_verified"], ada["has_password"]) == (True, True)
    assert ada["created_at"].endswith("+00:00")


def test_search_is_case_insensitive_and_by_prefix_for_two_characters(
    boss: Api, person: MakePerson
) -> None:
    for name in ("ada", "adam", "bada", "ad"):
        person(name)
    assert find(boss, search="ADA") == ["ada", "adam", "bada"]
    assert find(boss, search=" ad ") == ["ad", "ada", "adam"]
    assert find(boss, search="ada@example.com") == ["ada"]
    assert find(boss, search="da") == []


@for_each("search", ["%", "_da", "a%", "ad_", "*", "a.", "[a]", "\\", "'", "ada\\"])
def test_search_has_no_wildcards(boss: Api, ada: Person, search: str) -> None:
    assert find(boss, search=search) == []


def test_pattern_characters_are_literal(boss: Api, person: MakePerson) -> None:
    for name in ("a_b@example.com", "axb@example.com", "a%b@example.com", "ä@example.com"):
        person(name)
    assert find(boss, search="a_") == ["a_b"]
    assert find(boss, search="a%") == ["a%b"]
    assert find(boss, search="Ä") == ["ä"]


def test_id_and_complete_phone_number_are_found_exactly(boss: Api, person: MakePerson) -> None:
    ada = person("ada", phone="+491701234567")
    person("bob", phone="+491701234568")
    assert find(boss, search=str(ada.id)) == ["ada"]
    assert find(boss, search="+49 170 1234567") == ["ada"]
    assert find(boss, search="+49170") == ["ada", "bob"]
    assert find(boss, search="0170 123 4568") == ["bob"]
    person("99luftballons")
    assert find(boss, search="99") == ["99luftballons"]


@for_each("search", ["99999999999999999999", "-1", "1_0", "٣", "+", "+abc", "1e5"])
def test_unknown_id_finds_no_account(boss: Api, search: str) -> None:
    assert find(boss, search=search) == []


def test_filters_are_combined(boss: Api, person: MakePerson, clock: SteppingClock) -> None:
    person("admin", role="admin")
    person("idle", status="inactive")
    clock.step(minutes=5)
    later = clock.now().isoformat()
    clock.step(minutes=5)
    person("ada").api()
    person("bob")
    assert find(boss, role="admin") == ["admin"]
    assert find(boss, status="inactive") == ["idle"]
    assert find(boss, status="active", role="user") == ["bob", "ada"]
    assert find(boss, created_after=later) == ["bob", "ada"]
    assert find(boss, created_after=later, search="b") == ["bob"]
    assert find(boss, last_login_before=later) == ["bob", "idle", "admin", "root"]
    assert find(boss, verified="false") == []
    assert find(boss, verified="true", role="root") == ["root"]


def test_unverified_accounts_are_found(app: Flask, boss: Api, clock: Any) -> None:
    with app.app_context():
        waiting = {"status": "pending", "email_unverified_since": clock.now()}
        service(Accounts).create("ada@example.com", None, **waiting)
    [ada] = boss.get(ACCOUNTS, query_string={"verified": "0"}).json
    assert (ada["status"], ada["email_verified"], ada["has_password"]) == ("pending", False, False)


@pytest.fixture
def three(boss: Api, person: MakePerson) -> None:
    """Carl, Ada and Bob in this order. Only Ada has signed in."""
    person("carl")
    ada = person("ada")
    person("bob")
    ada.api()


@for_each(
    ("sort", "order"),
    [
        ("created_at", "root carl ada bob"),
        ("-created_at", "bob ada carl root"),
        ("id", "root carl ada bob"),
        ("-id", "bob ada carl root"),
        ("email", "ada bob carl root"),
        ("-email", "root carl bob ada"),
        # Accounts that have never signed in are first, or last.
        ("last_login_date", "carl bob root ada"),
        ("-last_login_date", "ada root bob carl"),
    ],
)
def test_every_sort_order_is_paginated(boss: Api, three: None, sort: str, order: str) -> None:
    names = order.split()
    for offset in range(4):
        assert find(boss, sort=sort, offset=offset, limit=2) == names[offset : offset + 2]
    for limit in (1, 2, 3, 4):
        listed = list(pages(boss, sort=sort, limit=limit))
        assert [name for page in listed for name in page] == names, limit
        assert all(len(page) == limit for page in listed[:-1])


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "email", "last_login_date"])
def test_pages_are_stable_during_changes(boss: Api, person: MakePerson, sort: str) -> None:
    people = [person(f"p{number}") for number in range(6)]
    names = iter(f"{'az'[number % 2]}{number}" for number in range(20))
    gone = iter(people[:1])

    def change_accounts() -> None:
        person(next(names))
        for account in gone:
            boss.delete(f"{ACCOUNTS}/{account.id}")

    seen = [name for page in pages(boss, change_accounts, sort=sort, limit=2) for name in page]
    assert len(seen) == len(set(seen))
    assert {"p1", "p2", "p3", "p4", "p5", "root"} <= set(seen)


def test_offset_pages_continue(boss: Api, person: MakePerson) -> None:
    for name in ("ada", "bob", "carl"):
        person(name)
    assert find(boss, offset=1, limit=2) == ["bob", "ada"]
    last = boss.get(ACCOUNTS, query_string={"offset": 2})
    assert (emails(last), last.headers["X-Total-Count"]) == (["ada", "root"], "4")
    beyond = boss.get(ACCOUNTS, query_string={"offset": 9})
    assert (beyond.json, "X-Total-Count" in beyond.headers) == ([], False)


def test_link_keeps_the_query(boss: Api, person: MakePerson) -> None:
    for number in range(4):
        person(f"a+{number}@example.com")
    listed = list(pages(boss, search="a+", status="active", limit=3))
    assert [len(page) for page in listed] == [3, 1]


@for_each(
    ("query", "faults"),
    [
        ({"search": " "}, ["search"]),
        ({"search": "a" * 321}, ["search"]),
        ({"search": "a\x00"}, ["search"]),
        ({"sort": "password_hash"}, ["sort"]),
        ({"role": "king"}, ["role"]),
        ({"verified": "maybe"}, ["verified"]),
        ({"created_after": "yesterday"}, ["created_after"]),
        ({"created_after": "2030-01-01T00:00:00"}, ["created_after"]),
        ({"last_login_before": "0001-01-01T00:00:00+14:00"}, ["last_login_before"]),
        ({"limit": 0, "offset": 10_001}, ["limit", "offset"]),
        ({"after": "invalid"}, ["after"]),
        ({"after": "é"}, ["after"]),
        ({"after": "W10"}, ["after"]),
        ({"after": "bnVsbA"}, ["after"]),
        ({"after": "abc", "offset": 5}, ["offset"]),
        ({"before": "invalid"}, ["before"]),
        ({"before": "abc", "offset": 5}, ["before"]),
        ({"before": "abc", "after": "abc"}, ["before"]),
    ],
)
def test_invalid_query_is_a_422(boss: Api, query: Any, faults: list[str]) -> None:
    response = boss.get(ACCOUNTS, 422, query_string=query)
    assert sorted(response.faults) == [f"query:{name}" for name in faults]


def test_cursor_is_valid_only_for_its_order(boss: Api, person: MakePerson) -> None:
    person("ada")
    link = boss.get(ACCOUNTS, query_string={"limit": 1, "sort": "email"}).headers["Link"]
    place = link.partition("after=")[2].partition(">")[0].partition("&")[0]
    boss.get(f"{ACCOUNTS}?sort=email&after={place}")
    boss.get(f"{ACCOUNTS}?sort=-email&after={place}", 422)
    boss.get(f"{ACCOUNTS}?after={place}", 422)
    boss.get(f"{ACCOUNTS}?sort=email&after={quote(place[:-4])}", 422)


def test_page_is_one_query(app: Flask, boss: Api, person: MakePerson) -> None:
    ada = person("ada")
    for number in range(8):
        person(f"p{number}")
    for path, statements in {
        ACCOUNTS: 2,
        # The matches and the page.
        f"{ACCOUNTS}?search=p&limit=2": 3,
        # How to search, the matches, those with the filters, and the page.
        f"{ACCOUNTS}?search=example&status=active&limit=2": 5,
        f"{ACCOUNTS}?status=active&role=user&verified=true": 2,
        # One query for accounts with a sign-in, one for accounts without.
        f"{ACCOUNTS}?sort=-last_login_date": 3,
        f"{ACCOUNTS}?sort=last_login_date&limit=2": 2,
        # A query for the existence of the id, and one for the account.
        f"{ACCOUNTS}?search={ada.id}": 3,
        f"{ACCOUNTS}/{ada.id}": 2,
        f"{ACCOUNTS}/{ada.id}/deliveries": 3,
        f"{ACCOUNTS}/{ada.id}/memberships": 3,
        f"{ACCOUNTS}/{ada.id}/events": 3,
    }.items():
        with noted_queries(app) as noted:
            boss.get(path)
        assert len(noted) == statements, (path, noted)
