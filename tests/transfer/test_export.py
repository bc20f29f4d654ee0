"""`flask accounts export`, and importing its files again."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Suspension
from app.accounts.service import Accounts
from app.auth.idp.identities import Identities
from app.auth.idp.provider import Provider
from app.core.context import service
from app.core.db.transaction import transaction

from ..cli.test_command_line import run
from ..conftest import MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA as PROFILE


@pytest.fixture
def people(app: Flask, person: MakePerson) -> list[Person]:
    """Return two accounts with all kinds of data; a third account has only an email."""
    ada, bob = person("ada", role="admin", phone="+15005550006"), person("bob", status="suspended")
    ada.api().post("/profiles", json={**PROFILE, "first name": "x", "likes": ["tea", 1, None]})
    run(app, "workspaces", "create", "acme", "--name", 'Acme, "the" company', "--default")
    run(app, "workspaces", "add", "acme", bob.email, "--type", "guest", "--status", "away")
    run(app, "workspaces", "add", "acme", ada.email)
    ada.api().delete("/logout")
    with app.app_context():
        accounts = service(Accounts)
        account = accounts.get(ada.email)
        with transaction(accounts.session):
            service(Identities).link(
                account,
                Provider("default", "oidc", "id"),
                "https://id.example.com",
                "ada|1",
                "a@example.com",
            )
        until = Suspension(datetime(2100, 1, 1, tzinfo=UTC), "Sells beans")
        accounts.change(accounts.get(bob.email), status="suspended", suspension=until)
        accounts.session.add(accounts.model(email="sso@example.com"))
        accounts.session.commit()
    return [ada, bob]


def delete_all(app: Flask) -> None:
    with app.app_context():
        accounts = service(Accounts)
        for account in list(accounts.all()):
            accounts.delete(accounts.get(account.email))
        session = accounts.session
        from app.workspaces.models import Workspace

        session.query(Workspace).delete()
        session.commit()


@pytest.mark.parametrize("options", [(), ("--csv",)])
def test_exported_file_can_be_imported_without_loss(
    app: Flask, people: list[Person], options: tuple[str, ...]
) -> None:
    run(app, "accounts", "export", "before", *options)
    delete_all(app)
    result = json.loads(run(app, "accounts", "import", "before"))
    assert (result["imported"], result["refused"]) == (3, 0)
    run(app, "accounts", "export", "after", *options)
    assert Path("after").read_bytes() == Path("before").read_bytes()
    assert b"likes" in Path("after").read_bytes()


def test_line_has_all_data_of_an_account(app: Flask, people: list[Person]) -> None:
    ada, bob, sso = map(json.loads, run(app, "accounts", "export").splitlines())
    assert (ada["email"], ada["role"], ada["phone"]) == ("ada@example.com", "admin", "+15005550006")
    assert ada["password_hash"].startswith("$2b$")
    assert ada["email_verified"] is True
    assert [each["slug"] for each in ada["workspaces"]] == ["ada", "acme"]
    assert ada["current_workspace"] == "ada"
    assert [each["subject"] for each in ada["identities"]] == ["ada|1"]
    assert ada["profile"]["likes"] == ["tea", 1, None]
    assert {"logged_out_at", "last_login_date", "created_at"} <= ada.keys()
    assert (bob["status"], bob["workspaces"][1]["type"]) == ("suspended", "guest")
    assert "password_hash" not in sso
    assert "profile" not in sso


def test_sign_in_works_after_export_and_import(app: Flask, people: list[Person]) -> None:
    run(app, "accounts", "export", "file")
    delete_all(app)
    run(app, "accounts", "import", "file")
    assert people[0].api().get("/profiles").json["likes"] == ["tea", 1, None]


def test_exported_file_is_readable_only_by_its_owner(app: Flask, ada: Person) -> None:
    run(app, "accounts", "export", "file")
    assert os.stat("file").st_mode & 0o077 == 0


def test_accounts_are_exported_in_pages(make_app: MakeApp) -> None:
    app = make_app()
    lines: list[dict[str, Any]] = [{"id": n, "email": f"{n}@example.com"} for n in range(1, 2502)]
    Path("file").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run(app, "accounts", "import", "file")
    found = [json.loads(line)["id"] for line in run(app, "accounts", "export").splitlines()]
    assert found == list(range(1, 2502))
