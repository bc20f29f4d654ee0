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


@for_each("sort", ["email", "-created_at", "last_login_date", "id"])
def test_frequent_matches_have_the_same_pages_without_total(
    boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    expected = find(boss, search="example", sort=sort)
    monkeypatch.setattr(account_search, "MAX_COUNT", 2)
    monkeypatch.setattr("app.administration.search.MAX_COUNT", 2)
    for near in (60, 0):
        monkeypatch.setattr("app.administration.search._NEAR", near)
        page = boss.get(ACCOUNTS, query_string={"search": "example", "limit": 4, "sort": sort})
        assert (emails(page), "X-Total-Count" in page.headers) == (expected[:4], False)


@for_each("sort", ["-created_at", "id", "last_login_date", "-last_login_date", "email"])
def test_many_matches_have_the_same_pages_and_total(
    boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    expected = find(boss, search="example", sort=sort)
    query = {"search": "example", "limit": 2, "sort": sort}
    monkeypatch.setattr("app.administration.search._FEW", 1)
    # Enough of the first accounts match, and too few of them.
    for first in (20, 1):
        monkeypatch.setattr("app.administration.search._FIRST", first)
        page = boss.get(ACCOUNTS, query_string=query)
        following = follow(boss, page, "next")
        assert emails(page) + emails(following) == expected[:4]
        assert page.headers["X-Total-Count"] == "5"


def add_members(person: MakePerson) -> None:
    """Create accounts of which half have never signed in, and every other one is found by
    `example.com`."""
    for number in range(12):
        name = new_name("member")
        created = person(f"{name}@example.com" if number % 2 else f"{name}@acme.example")
        if number < 6:
            created.api()


@for_each("sort", ["last_login_date", "-last_login_date"])
def test_pages_by_last_sign_in_have_every_frequent_match(
    boss: Api, person: MakePerson, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    add_members(person)
    expected = find(boss, search="example.com", sort=sort)
    assert len(expected) >= 7
    monkeypatch.setattr(account_search, "MAX_COUNT", 2)
    monkeypatch.setattr("app.administration.search._USUAL_PAGE", 1)
    # The first accounts that are searched are few of their part, or all.
    for near in (1, 60):
        monkeypatch.setattr("app.administration.search._NEAR", near)
        found = pages(boss, search="example.com", sort=sort, limit=2)
        assert [name for page in found for name in page] == expected, near


def test_matches_of_two_characters_are_counted_up_to_a_smaller_number(
    boss: Api, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_search, "MAX_SHORT_COUNT", 1)
    for search, names, total in (("ni", ["nina.k"], "1"), ("m", ["anna"], None)):
        page = boss.get(ACCOUNTS, query_string={"search": search, "limit": 1})
        assert (emails(page), page.headers.get("X-Total-Count")) == (names, total)


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


@only_on("postgresql")
def test_trigram_indexes_are_created_with_the_extension(app: Flask) -> None:
    with app.app_context():
        context = current_frontdesk
        model = context.tables.account_model
        with context.db.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            definitions = text("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%\\_search'")
            with_trigrams = {
                "ix_accounts_email_search",
                "ix_accounts_phone_search",
                "ix_frontdesk_profiles_names_search",
            }
            assert set(connection.scalars(definitions)) == with_trigrams
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(search_indexes, "_trigram_schema", lambda _: None)
                assert not search_indexes.create_search_indexes(connection, model)
            assert set(connection.scalars(definitions)) == {
                "ix_accounts_domain_search",
                "ix_frontdesk_profiles_first_name_search",
                "ix_frontdesk_profiles_last_name_search",
            }
            assert search_indexes.create_search_indexes(connection, model)
            assert set(connection.scalars(definitions)) == with_trigrams


@only_on("postgresql")
def test_extension_in_a_closed_schema_is_not_used(app: Flask) -> None:
    with app.app_context():
        context = current_frontdesk
        owner = context.db.engine.url.username
        with context.db.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            create, run = search_indexes.create_search_indexes, connection.exec_driver_sql
            model = context.tables.account_model
            run("CREATE ROLE frontdesk_other_test")
            run("CREATE ROLE frontdesk_closed_test")
            try:
                # Owns the tables, but is no superuser.
                run(f'GRANT "{owner}" TO frontdesk_closed_test')
                run("CREATE SCHEMA closed AUTHORIZATION frontdesk_other_test")
                run("ALTER EXTENSION pg_trgm SET SCHEMA closed")
                run("SET ROLE frontdesk_closed_test")
                assert not create(connection, model)
            finally:
                run("RESET ROLE")
                run("ALTER EXTENSION pg_trgm SET SCHEMA public")
                run("DROP SCHEMA IF EXISTS closed")
                run("DROP ROLE frontdesk_closed_test, frontdesk_other_test")
                assert create(connection, model)


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
