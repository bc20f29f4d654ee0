"""The `flask workspaces` commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..cli.test_command_line import run
from ..conftest import Person
from ..rigs.cases import for_each


def run_json(app: Flask, *args: str) -> Any:
    return json.loads(run(app, "workspaces", *args))


def test_create_prints_the_workspace_as_json_on_one_line(app: Flask) -> None:
    workspace = run_json(app, "create", "team", "--name", "The Team")
    assert (workspace["slug"], workspace["name"]) == ("team", "The Team")
    assert workspace["is_default"] is False
    assert set(workspace) == {"id", "slug", "name", "is_default", "created_at"}


def test_create_default_replaces_the_common_default(app: Flask, ada: Person) -> None:
    assert run_json(app, "create", "team", "--name", "The Team", "--default")["is_default"] is True
    run_json(app, "create", "other", "--name", "The Other", "--default")
    lines = run(app, "workspaces", "list").splitlines()
    defaults = {w["slug"]: w["is_default"] for w in map(json.loads, lines)}
    assert defaults == {"ada": True, "team": False, "other": True}
    assert ada.api().get("/workspaces/default").json["slug"] == "ada"


@for_each("slug", ["current", "Team", "t", "te am"])
def test_create_rejects_an_invalid_slug(app: Flask, slug: str) -> None:
    run(app, "workspaces", "create", slug, "--name", "Team", code=2)


def test_create_rejects_a_taken_slug(app: Flask) -> None:
    run_json(app, "create", "team", "--name", "Team")
    text = "Error: A workspace with the slug team already exists.\n"
    assert run(app, "workspaces", "create", "team", "--name", "T", code=1) == text
    run(app, "workspaces", "create", "other", "--name", "", code=2)


def test_add_creates_a_member(app: Flask, ada: Person) -> None:
    run_json(app, "create", "team", "--name", "Team")
    member = run_json(app, "add", "team", "ADA@example.com")
    assert (member["email"], member["account_id"]) == (ada.email, ada.id)
    assert (member["type"], member["status"]) == ("member", "active")
    assert ada.api().get("/workspaces/team").json["type"] == "member"


def test_add_changes_an_existing_member(app: Flask, ada: Person) -> None:
    run_json(app, "create", "team", "--name", "Team")
    first = run_json(app, "add", "team", ada.email)
    second = run_json(app, "add", "team", ada.email, "--type", "owner", "--status", "invited")
    assert (second["id"], second["type"], second["status"]) == (first["id"], "owner", "invited")


def test_remove_also_removes_the_last_owner(app: Flask, ada: Person) -> None:
    assert run_json(app, "remove", "ada", ada.email)["type"] == "owner"
    assert ada.api().get("/workspaces").json == []


@pytest.mark.parametrize("command", ["add", "remove"])
def test_missing_workspace_account_or_member_is_named(
    app: Flask, ada: Person, command: str
) -> None:
    text = "Error: No workspace has the slug x.\n"
    assert run(app, "workspaces", command, "x", ada.email, code=1) == text
    text = "Error: No account has the email address x@y.example.\n"
    assert run(app, "workspaces", command, "ada", "x@y.example", code=1) == text
    run_json(app, "create", "team", "--name", "Team")
    text = f"Error: {ada.email} is not a member of the workspace team.\n"
    assert run(app, "workspaces", "remove", "team", ada.email, code=1) == text


def test_invalid_type_and_status_are_rejected(app: Flask, ada: Person) -> None:
    run(app, "workspaces", "add", "ada", ada.email, "--type", "king", code=2)
    for status in ("x" * 51, "On leave", ""):
        run(app, "workspaces", "add", "ada", ada.email, "--status", status, code=2)
    assert Api(app, token=ada.token()).get("/workspaces/ada").json["status"] == "active"
