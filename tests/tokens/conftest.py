from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, Person

# Creates a token of an account, and returns the response.
MakeToken = Callable[..., dict[str, Any]]
# Returns a client that sends a new token of an account.
Program = Callable[..., Api]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    """The service, with access tokens that outlive the personal tokens."""
    return make_app(
        AUTH__PERSONAL_TOKENS="on",
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="1000000",
        AUTH__FRESH_MINUTES="1000000",
        WORKSPACES__ADDING="direct",
    )


@pytest.fixture
def make_token() -> MakeToken:
    def make(person: Person, *scopes: str, name: str = "Backup", **members: Any) -> dict[str, Any]:
        body = {"name": name, "scopes": scopes or ["account:read"], **members}
        created: dict[str, Any] = person.api().post("/personal-tokens", 201, json=body).json
        return created

    return make


@pytest.fixture
def program(make_token: MakeToken) -> Program:
    def make(person: Person, *scopes: str, **members: Any) -> Api:
        return person.api().as_token(make_token(person, *scopes, **members)["token"])

    return make


TEAM_TOKENS = "/workspaces/team/tokens"
# Creates a token of the workspace `team` as its owner, and returns the response.
MakeTeamToken = Callable[..., dict[str, Any]]
# Returns a client that sends a new token of the workspace `team`.
TeamProgram = Callable[..., Api]


@pytest.fixture
def olga(person: MakePerson) -> Person:
    """The owner of the workspaces `team` and `other`."""
    olga = person("olga")
    for slug in ("team", "other"):
        olga.api().post("/workspaces", json={"slug": slug, "name": slug.title()})
    return olga


@pytest.fixture
def make_team_token(olga: Person) -> MakeTeamToken:
    def make(*scopes: str, creator: Person = olga, **members: Any) -> dict[str, Any]:
        body = {"name": "Sync", "scopes": scopes or ["workspaces:read"], "type": "admin", **members}
        created: dict[str, Any] = creator.api().post(TEAM_TOKENS, 201, json=body).json
        return created

    return make


@pytest.fixture
def team_program(app: Flask, make_team_token: MakeTeamToken) -> TeamProgram:
    def make(*scopes: str, **members: Any) -> Api:
        return Api(app, token=make_team_token(*scopes, **members)["token"])

    return make


def join(olga: Person, person: Person, kind: str = "member", slug: str = "team") -> None:
    body = {"email": person.email, "type": kind}
    olga.api().post(f"/workspaces/{slug}/members", json=body)
