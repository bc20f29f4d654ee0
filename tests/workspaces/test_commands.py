"""`flask workspaces …`"""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..cli.test_command_line import run
from ..conftest import Person
from ..rigs.cases import for_each


def told(app: Flask, *args: str) -> Any:
    return json.loads(run(app, "workspaces", *args))


def test_create_prints_the_workspace_as_json_on_one_line(app: Flask) -> None:
    workspace = told(app, "create", "team", "--name", "The Team")
    assert (workspace["slug"], workspace["name"]) == ("team", "The Team")
    assert workspace["is_default"] is False
    assert set(workspace) == {"id", "slug", "name", "is_default", "created_at"}


def test_create_makes_the_default_if_told_so(app: Flask, ada: Person) -> None:
    assert told(app, "create", "team", "--name", "The Team", "--default")["is_default"] is True
    told(app, "create", "other", "--name", "The Other", "--default")
    lines = run(app, "workspaces", "list").splitlines()
    defaults = {w["slug"]: w["is_default"] for w in map(json.loads, lines)}
    assert defaults == {"ada": True, "team": False, "other": True}
    assert ada.api().get("/workspaces/default").json["slug"] == "ada"


@for_each("slug", ["current", "Team", "t", "te am"])
def test_create_says_what_is_wrong_with_a_slug(app: Flask, slug: str) -> None:
    run(app, "workspaces", "create", slug, "--name", "Team", code=2)


def test_create_says_that_a_slug_is_taken(app: Flask) -> None:
    told(app, "create", "team", "--name", "Team")
    assert "already exists" in run(app, "workspaces", "create", "team", "--name", "T", code=1)
    run(app, "workspaces", "create", "other", "--name", "", code=2)


def test_add_makes_a_member(app: Flask, ada: Person) -> None:
    told(app, "create", "team", "--name", "Team")
    member = told(app, "add", "team", "ADA@example.com")
    assert (member["email"], member["account_id"]) == (ada.email, ada.id)
    assert (member["type"], member["status"]) == ("member", "active")
    assert ada.api().get("/workspaces/team").json["type"] == "member"


def test_add_makes_a_member_what_is_said(app: Flask, ada: Person) -> None:
    told(app, "create", "team", "--name", "Team")
    first = told(app, "add", "team", ada.email)
    second = told(app, "add", "team", ada.email, "--type", "owner", "--status", "invited")
    assert (second["id"], second["type"], second["status"]) == (first["id"], "owner", "invited")


def test_remove_takes_a_member_out_be_it_the_last_owner(app: Flask, ada: Person) -> None:
    assert told(app, "remove", "ada", ada.email)["type"] == "owner"
    assert ada.api().get("/workspaces").json == []


@pytest.mark.parametrize("command", ["add", "remove"])
def test_what_is_not_there_is_said(app: Flask, ada: Person, command: str) -> None:
    assert "Workspace not found" in run(app, "workspaces", command, "x", ada.email, code=1)
    assert "Account not found" in run(app, "workspaces", command, "ada", "x@y.example", code=1)
    told(app, "create", "team", "--name", "Team")
    assert "Member not found" in run(app, "workspaces", "remove", "team", ada.email, code=1)


def test_nothing_wrong_reaches_the_database(app: Flask, ada: Person) -> None:
    run(app, "workspaces", "add", "ada", ada.email, "--type", "king", code=2)
    run(app, "workspaces", "add", "ada", ada.email, "--status", "x" * 51, code=2)
    assert Api(app, token=ada.token()).get("/workspaces/ada").json["status"] == "active"
