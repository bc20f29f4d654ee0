"""`flask accounts list` and `show`."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.accounts import search, service
from app.accounts.models import Suspension
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakePerson, Person
from ..extension.test_tables import host_without_accounts
from ..rigs.cases import for_each
from .test_command_line import run


def listed(app: Flask, *options: str) -> list[str]:
    lines = run(app, "accounts", "list", *options).splitlines()
    return [json.loads(line)["email"].partition("@")[0] for line in lines]


@pytest.fixture
def people(person: MakePerson) -> None:
    """Five accounts, in the order of their ids."""
    person("ada", role="admin")
    person("bob")
    person("eve", role="admin", status="suspended")
    person("joe", status="suspended")
    person("zoe", phone="+15005550006")


@for_each(
    ("options", "expected"),
    [
        ("", "ada bob eve joe zoe"),
        ("--role admin", "ada eve"),
        ("--status suspended", "eve joe"),
        ("--status active --role user", "bob zoe"),
        ("--status pending", ""),
        ("--role admin --status suspended", "eve"),
        ("--search example.com", "ada bob eve joe zoe"),
        ("--search example.com --role admin --limit 1", "ada"),
        ("--search joe@exam", "joe"),
        ("--search nobody", ""),
        ("--search 5550006", "zoe"),
        ("--search BOB@example.com", "bob"),
        ("--limit 2", "ada bob"),
        ("--limit 9", "ada bob eve joe zoe"),
    ],
)
@pytest.mark.usefixtures("people")
def test_list_has_the_accounts_that_meet_all_options(
    app: Flask, options: str, expected: str
) -> None:
    assert listed(app, *options.split()) == expected.split()


@pytest.mark.usefixtures("people")
def test_search_with_many_matches_lists_all_of_them(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_MATCHES", 2)
    monkeypatch.setattr(service, "PAGE", 2)
    assert listed(app, "--search", "example.com") == ["ada", "bob", "eve", "joe", "zoe"]
    assert listed(app, "--search", "example.com", "--status", "suspended") == ["eve", "joe"]


@pytest.mark.usefixtures("people")
def test_page_of_filtered_accounts_is_one_statement(app: Flask) -> None:
    with noted_queries(app) as statements:
        run(app, "accounts", "list", "--role", "admin", "--status", "active", "--limit", "5")
    assert len([each for each in statements if "FROM accounts" in each]) == 1, statements


def test_expired_suspension_is_listed_as_active(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    end = Suspension(clock.now() + timedelta(days=1), "spam")
    ada.change(status="suspended", suspension=end)
    assert listed(app, "--status", "suspended") == ["ada"]
    shown = show(app, ada.email)
    assert (shown["status"], shown["suspended_reason"]) == ("suspended", "spam")
    clock.step(days=2)
    assert listed(app, "--status", "suspended") == []
    assert listed(app, "--status", "active") == ["ada"]
    shown = show(app, ada.email)
    assert (shown["status"], shown["suspended_reason"]) == ("active", None)


@for_each(
    "options", [("--status", "activ"), ("--role", "king"), ("--limit", "0"), ("--limit", "many")]
)
def test_invalid_filter_repeats_its_value(app: Flask, options: tuple[str, str]) -> None:
    output = run(app, "accounts", "list", *options, code=2)
    assert all(each in output for each in options)


def show(app: Flask, name: str) -> Any:
    return json.loads(run(app, "accounts", "show", name, "--json"))


def test_show_finds_an_account_by_its_email_address_or_id(app: Flask, ada: Person) -> None:
    shown = show(app, "ADA@example.com")
    assert shown == show(app, str(ada.id))
    assert (shown["id"], shown["email"], shown["has_password"]) == (ada.id, ada.email, True)


@for_each("name", ["nobody@example.com", "4711", "nobody", "-"])
def test_missing_account_is_named(app: Flask, name: str) -> None:
    output = run(app, "accounts", "show", name, code=1)
    kind = "email address" if "@" in name else "id"
    assert output == f"Error: No account has the {kind} {name}.\n"


@pytest.mark.parametrize("command", ["list", "show 7"])
def test_application_without_an_account_model_is_reported(command: str) -> None:
    output = run(host_without_accounts(), "accounts", *command.split(), code=1)
    assert output == "Error: Account model is not configured\n"
