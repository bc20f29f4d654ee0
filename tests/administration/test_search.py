"""Searching accounts by name, part of the address, domain and phone number, with totals."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import search as account_search
from app.core.context import current_frontdesk
from app.core.db import search_indexes
from app.testing.client import Api

from ..conftest import MakePerson, Person, only_on
from ..rigs.cases import for_each, new_name
from .test_list import ACCOUNTS, emails, find, pages

PEOPLE = {
    "nina.k@acme.example": ("Nina", "Simone", "+491701234567"),
    "jsmith@example.com": ("John", "Smith", "+442079460000"),
    "zoe@example.com": ("Zoë", "Müller", None),
    "anna@acme.example": ("Anna Maria", "McDonald", None),
}
# What is found with a part of a text, and what with its start alone.
FOUND = {
    "simone": ["nina.k"],
    "NINA": ["nina.k"],
    "nina sim": ["nina.k"],
    "simone nina": ["nina.k"],
    "müller": ["zoe"],
    "MÜLLER": ["zoe"],
    "zoë": ["zoe"],
    "anna maria": ["anna"],
    "acme.example": ["anna", "nina.k"],
    "@acme": ["anna", "nina.k"],
    "jsm": ["jsmith"],
    "+44207": ["jsmith"],
    "0044 207 946": ["jsmith"],
    "nina smith": [],
    "si%": [],
}
ONLY_PARTS = {"smith@": ["jsmith"], "donald": ["anna"], "946000": ["jsmith"], "imone": ["nina.k"]}


@pytest.fixture
def boss(person: MakePerson) -> Api:
    return person("root", role="root").api()


@pytest.fixture
def people(person: MakePerson) -> dict[str, Person]:
    found = {}
    for email, (first, last, phone) in PEOPLE.items():
        found[email] = person(email, phone=phone)
        profile = {
            "first_name": first,
            "last_name": last,
            "date_of_birth": "1933-02-21",
            "gender": "female",
            "marital_status": "single",
        }
        found[email].api().post("/profiles/", json=profile)
    return found


@for_each(
    ("search", "names"),
    [
        ("ni", ["nina.k"]),
        ("NI SI", ["nina.k"]),
        ("m", ["anna", "zoe"]),
        ("MÜ", ["zoe"]),
        ("mC", ["anna"]),
        ("@ac", ["anna", "nina.k"]),
        ("o", []),
        ("js", ["jsmith"]),
    ],
)
def test_short_text_is_found_at_the_start(
    boss: Api, people: dict[str, Person], search: str, names: list[str]
) -> None:
    page = boss.get(ACCOUNTS, query_string={"search": search})
    assert (emails(page), page.headers["X-Total-Count"]) == (names, str(len(names)))


def test_accounts_are_found_by_a_part(boss: Api, people: dict[str, Person]) -> None:
    for search, names in {**FOUND, **ONLY_PARTS}.items():
        assert find(boss, search=search) == names, search


def test_many_accounts_without_trigrams_are_found_by_the_start(
    app: Flask, boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_search, "MAX_SCANNED", 1)
    monkeypatch.setattr(account_search, "has_trigram_index", lambda *_: False)
    for search, names in FOUND.items():
        assert find(boss, search=search) == names, search
    for search in ONLY_PARTS:
        assert find(boss, search=search) == [], search


def test_search_is_combined_with_filters(boss: Api, people: dict[str, Person]) -> None:
    assert find(boss, search="simone", role="user") == ["nina.k"]
    assert find(boss, search="simone", role="admin") == []


def test_search_sends_the_total_with_each_page(boss: Api, people: dict[str, Person]) -> None:
    page = boss.get(ACCOUNTS, query_string={"search": "example", "limit": 2})
    assert (len(page.json), page.headers["X-Total-Count"]) == (2, "5")


def add_members(person: MakePerson) -> None:
    """Create accounts of which half have never signed in, and every other one is found by
    `example.com`."""
    for number in range(12):
        name = new_name("member")
        created = person(f"{name}@example.com" if number % 2 else f"{name}@acme.example")
        if number < 6:
            created.api()


@for_each("sort", ["email", "-created_at", "-last_login_date", "id"])
def test_matches_are_sorted_as_requested(boss: Api, person: MakePerson, sort: str) -> None:
    add_members(person)
    found = find(boss, search="example.com", sort=sort)
    everyone = find(boss, sort=sort)
    assert 7 <= len(found) < len(everyone)
    assert found == [each for each in everyone if each in {*found}]
    assert [*pages(boss, search="example.com", sort=sort, limit=len(found))] == [found]


@for_each("sort", ["email", "-created_at", "last_login_date", "id"])
def test_more_matches_are_listed_newest_first_without_total(
    boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    newest_first = find(boss, search="example", sort="-created_at")
    monkeypatch.setattr(account_search, "MAX_MATCHES", 2)
    for search in ("example", "@ex", "e"):
        page = boss.get(ACCOUNTS, query_string={"search": "example", "limit": 2, "sort": sort})
        assert (emails(page), "X-Total-Count" in page.headers) == (newest_first[:2], False), search
        following = follow(boss, page, "next")
        assert emails(following) == newest_first[2:4]
        assert emails(follow(boss, following, "prev")) == newest_first[:2]
        offset = find(boss, search="example", limit=2, offset=1, sort=sort)
        assert offset == newest_first[1:3]


def test_more_matches_are_found_among_the_newest_accounts(
    boss: Api, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("adams", "bob", "eve.adams", "carl", "x.adams"):
        person(name, status="active" if name == "carl" else "inactive")
    monkeypatch.setattr(account_search, "MAX_MATCHES", 1)
    for checked, found in ((1, ["x"]), (2, ["x"]), (3, ["x", "eve"]), (20, ["x", "eve", "adams"])):
        monkeypatch.setattr("app.administration.search.MAX_CHECKED", checked)
        listed = pages(boss, search="adams", limit=1)
        assert [name.partition(".")[0] for page in listed for name in page] == found
    monkeypatch.setattr("app.administration.search.MAX_CHECKED", 3)
    # The newest accounts are those with the filters.
    assert len(find(boss, search="adams", status="inactive")) == 2
    assert find(boss, search="adams", status="active") == []
    page = boss.get(ACCOUNTS, query_string={"search": "adams", "status": "active"})
    assert page.headers["X-Total-Count"] == "0"


@for_each("sort", ["email", "-email", "-created_at", "id", "last_login_date", "-last_login_date"])
def test_previous_page_is_linked(boss: Api, people: dict[str, Person], sort: str) -> None:
    everyone = find(boss, sort=sort)
    first = boss.get(ACCOUNTS, query_string={"limit": 2, "sort": sort})
    second = follow(boss, first, "next")
    third = follow(boss, second, "next")
    assert 'rel="prev"' not in first.headers["Link"]
    again = follow(boss, third, "prev")
    assert emails(third) == everyone[4:]
    assert emails(again) == emails(second) == everyone[2:4]
    start = follow(boss, again, "prev")
    assert emails(start) == everyone[:2]
    assert 'rel="prev"' not in start.headers["Link"]
    assert emails(follow(boss, start, "next")) == everyone[2:4]


def follow(boss: Api, page: Any, relation: str) -> Any:
    links = dict(reversed(link.split("; ")) for link in page.headers["Link"].split(", "))
    return boss.get(links[f'rel="{relation}"'].strip("<>").removeprefix("/api/v1"))


def test_previous_page_is_the_first_if_accounts_before_it_were_deleted(
    boss: Api, people: dict[str, Person]
) -> None:
    first = boss.get(ACCOUNTS, query_string={"limit": 2, "sort": "email"})
    second = follow(boss, first, "next")
    boss.delete(f"{ACCOUNTS}/{first.json[0]['id']}")
    start = follow(boss, second, "prev")
    assert emails(start) == [*emails(first)[1:], emails(second)[0]]


def test_members_are_found_by_a_part_without_their_phone_numbers(
    app: Flask, boss: Api, people: dict[str, Person]
) -> None:
    slug = boss.post("/workspaces", json={"name": "Garden"}).json["slug"]
    for email in list(people)[:2]:
        app.test_cli_runner().invoke(args=["workspaces", "add", slug, email])
    for search, names in {
        "simone": ["nina.k"],
        "acme": ["nina.k"],
        "müller": [],
        "+4917": [],
    }.items():
        found = boss.get(f"/workspaces/{slug}/members", query_string={"search": search})
        assert emails(found) == names


def test_frequent_matches_are_found_among_the_first_members(
    app: Flask, boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = boss.post("/workspaces", json={"name": "Garden"}).json["slug"]
    for email in people:
        app.test_cli_runner().invoke(args=["workspaces", "add", slug, email])
    monkeypatch.setattr(account_search, "MAX_MATCHES", 1)
    members = f"/workspaces/{slug}/members?search=acme.example"
    for checked, names in ((20, ["nina.k", "anna"]), (2, ["nina.k"])):
        monkeypatch.setattr("app.workspaces.members.MAX_CHECKED", checked)
        assert emails(boss.get(members)) == names


@only_on("postgresql")
def test_trigram_indexes_are_created_with_the_extension(app: Flask) -> None:
    with app.app_context():
        context = current_frontdesk
        metadata, model = context.metadata, context.tables.account_model
        with context.db.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            definitions = text("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%\\_search'")
            without_trigrams = {
                "ix_accounts_domain_search",
                "ix_frontdesk_profiles_lower_first_name_search",
                "ix_frontdesk_profiles_lower_last_name_search",
            }
            with_trigrams = without_trigrams | {
                "ix_accounts_email_search",
                "ix_accounts_phone_search",
                "ix_frontdesk_profiles_names_search",
            }
            assert set(connection.scalars(definitions)) == with_trigrams
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(search_indexes, "_trigram_schema", lambda _: None)
                assert not search_indexes.create_search_indexes(connection, metadata, model)
            assert set(connection.scalars(definitions)) == without_trigrams
            assert search_indexes.create_search_indexes(connection, metadata, model)
            assert set(connection.scalars(definitions)) == with_trigrams


@only_on("postgresql")
def test_extension_in_a_closed_schema_is_not_used(app: Flask) -> None:
    with app.app_context():
        context = current_frontdesk
        owner = context.db.engine.url.username
        with context.db.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            create, run = search_indexes.create_search_indexes, connection.exec_driver_sql
            metadata, model = context.metadata, context.tables.account_model
            run("CREATE ROLE frontdesk_other_test")
            run("CREATE ROLE frontdesk_closed_test")
            try:
                # Owns the tables, but is no superuser.
                run(f'GRANT "{owner}" TO frontdesk_closed_test')
                run("CREATE SCHEMA closed AUTHORIZATION frontdesk_other_test")
                run("ALTER EXTENSION pg_trgm SET SCHEMA closed")
                run("SET ROLE frontdesk_closed_test")
                assert not create(connection, metadata, model)
            finally:
                run("RESET ROLE")
                run("ALTER EXTENSION pg_trgm SET SCHEMA public")
                run("DROP SCHEMA IF EXISTS closed")
                run("DROP ROLE frontdesk_closed_test, frontdesk_other_test")
                assert create(connection, metadata, model)


@only_on("postgresql")
def test_trigram_index_of_another_column_or_name_is_not_ours(app: Flask) -> None:
    email, phone = "ix_accounts_email_search", "ix_accounts_phone_search"
    with app.app_context():
        session, model = current_frontdesk.session, current_frontdesk.tables.account_model
        assert model

        def rename(old: str, new: str) -> None:
            session.execute(text(f"ALTER INDEX {old} RENAME TO {new}"))
            session.commit()

        assert search_indexes.has_trigram_index(session, model)
        rename(email, "ix_own")
        try:
            assert not search_indexes.has_trigram_index(session, model)
            rename(phone, email)
            assert not search_indexes.has_trigram_index(session, model)
            rename(email, phone)
        finally:
            rename("ix_own", email)


def test_command_creates_the_indexes(app: Flask) -> None:
    done = app.test_cli_runner().invoke(args=["frontdesk", "index-search", "--json"])
    assert done.exit_code == 0, done.output
    with app.app_context():
        name = current_frontdesk.session.get_bind().dialect.name
    assert json.loads(done.output) == {"finds_parts": name == "postgresql"}


@pytest.mark.parametrize(
    ("command", "revisions", "hint"),
    [
        ("upgrade", "0031_shared_broadcasts:0032_removed_features", "flask frontdesk index-search"),
        (
            "downgrade",
            "0032_removed_features:0031_shared_broadcasts",
            "drop ix_accounts_domain_search, ix_",
        ),
    ],
)
def test_sql_of_the_migration_names_the_indexes_that_it_does_not_have(
    app: Flask, command: str, revisions: str, hint: str
) -> None:
    done = app.test_cli_runner().invoke(args=["db", command, "--sql", revisions])
    [comment] = re.findall("^-- The indexes for the search .*", done.output, re.MULTILINE)
    assert hint in comment
