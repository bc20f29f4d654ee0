"""Tokens of a workspace that are created or used while something ends them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from flask import Flask

from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.racing import request, run_concurrently
from .conftest import TEAM_TOKENS, MakeTeamToken, join

TEAM = "/workspaces/team"
BODY = {"name": "Sync", "scopes": ["workspaces:read"], "type": "admin"}
ROUNDS = 5


def test_ended_token_changes_nothing_more(
    app: Flask, olga: Person, ada: Person, make_team_token: MakeTeamToken
) -> None:
    join(olga, ada)
    api, member = olga.api(), f"{TEAM}/members/{ada.id}"
    for _ in range(ROUNDS):
        created = make_team_token("members:read", "members:write")
        token = Api(app, token=created["token"])
        with ThreadPoolExecutor(4) as threads:
            kinds = ["guest", "member"] * 3
            uses = [
                threads.submit(request(token, "PATCH", member, json={"type": kind}))
                for kind in kinds
            ]
            api.delete(f"{TEAM_TOKENS}/{created['id']}")
            api.patch(member, json={"type": "admin"})
            token.get(f"{TEAM}/members", 401)
        assert {each.result() for each in uses} <= {200, 401}
        types = {each["email"]: each["type"] for each in api.get(f"{TEAM}/members").json}
        assert types[ada.email] == "admin"


def test_simultaneous_ends_end_a_token_once(olga: Person, make_team_token: MakeTeamToken) -> None:
    path = f"{TEAM_TOKENS}/{make_team_token()['id']}"
    statuses = run_concurrently(*[request(olga.api(), "DELETE", path) for _ in range(4)])
    assert statuses == [200, 404, 404, 404]


def test_creator_that_is_removed_during_the_creation_creates_no_token_afterwards(
    olga: Person, ada: Person
) -> None:
    api = olga.api()
    for _ in range(ROUNDS):
        join(olga, ada, "admin")
        statuses = run_concurrently(
            request(api, "DELETE", f"{TEAM}/members/{ada.id}"),
            request(ada.api(), "POST", TEAM_TOKENS, json=BODY),
        )
        assert statuses in ([200, 201], [200, 403])
        ada.api().post(TEAM_TOKENS, 403, json=BODY)


def test_workspace_that_is_deleted_ends_its_tokens(app: Flask, person: MakePerson) -> None:
    for number in range(ROUNDS):
        api = person(f"owner{number}").api()
        api.post("/workspaces", json={"slug": f"team-{number}", "name": "Team"})
        path = f"/workspaces/team-{number}"
        created = api.post(f"{path}/tokens", 201, json=BODY).json
        token = Api(app, token=created["token"])
        statuses = run_concurrently(
            request(api, "DELETE", path), *[request(token, "GET", path) for _ in range(4)]
        )
        assert set(statuses) <= {200, 401, 404}
        token.get(path, 401)
