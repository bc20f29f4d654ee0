"""Creating, listing and ending the tokens of a workspace over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.tokens.models import WorkspaceToken

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently
from .conftest import TEAM_TOKENS as PATH
from .conftest import MakeTeamToken, TeamProgram, join

BODY: dict[str, Any] = {"name": "Sync", "scopes": ["workspaces:read"], "type": "admin"}


def test_token_is_shown_once_and_stored_as_a_digest(app: Flask, olga: Person) -> None:
    api = olga.api()
    body = {"name": " Sync ", "scopes": ["members:read", "workspaces:read", "members:read"]}
    created = api.post(PATH, 201, json={**body, "type": "guest", "days": 1}).json
    token = created.pop("token")
    expires = datetime.fromisoformat(created["expires_at"])
    assert expires - datetime.fromisoformat(created["created_at"]) == timedelta(days=1)
    assert {**created, "id": 0, "created_at": "", "expires_at": ""} == {
        "id": 0,
        "name": "Sync",
        "prefix": token[:8],
        "scopes": ["members:read", "workspaces:read"],
        "type": "guest",
        "created_at": "",
        "expires_at": "",
        "last_used_at": None,
    }
    assert token.startswith("fdw_")
    assert api.get(PATH).json == [created]
    assert Api(app, token=token).get("/workspaces/team").json["type"] == "guest"
    assert api.get(PATH).json[0]["last_used_at"] is not None
    with app.app_context():
        row = current_frontdesk.session.query(WorkspaceToken).one()
        assert not any(token in str(value) for value in vars(row).values())


def test_lists_have_the_valid_tokens_of_one_workspace_newest_first(
    olga: Person, make_team_token: MakeTeamToken, clock: SteppingClock
) -> None:
    short, long, ended = (make_team_token(days=days)["id"] for days in (1, 3, 3))
    api = olga.api()
    api.delete(f"/workspaces/other/tokens/{ended}", 404)
    assert api.delete(f"{PATH}/{ended}").json["id"] == ended
    answer = api.delete(f"{PATH}/{ended}", 404)
    assert answer.json["code"] == "workspace_token_not_found"
    assert [each["id"] for each in api.get(PATH).json] == [long, short]
    assert api.get("/workspaces/other/tokens").json == []
    clock.step(days=1)
    assert [each["id"] for each in api.get(PATH).json] == [long]
    api.delete(f"{PATH}/{short}", 404)


@for_each("kind", ["owner", "admin", "member", "guest", None])
def test_owners_and_admins_manage_tokens(
    olga: Person, ada: Person, make_team_token: MakeTeamToken, kind: str | None
) -> None:
    created = make_team_token()
    if kind is not None:
        join(olga, ada, kind)
    api, manages = ada.api(), kind in ("owner", "admin")
    api.get(PATH, 200 if manages else 403)
    api.post(PATH, 201 if manages else 403, json=BODY)
    refused = api.delete(f"{PATH}/{created['id']}", 200 if manages else 403)
    if not manages:
        assert refused.json["code"] == ("not_authorized" if kind else "not_a_member")
        olga.api().delete(f"{PATH}/{created['id']}")
    olga.api().delete(f"/workspaces/team/members/{ada.id}", 200 if kind else 404)


def test_token_manages_no_tokens(olga: Person, team_program: TeamProgram) -> None:
    every_scope = [each["name"] for each in olga.api().get("/scopes").json]
    token = team_program(*every_scope)
    for method, path in (("GET", PATH), ("POST", PATH), ("DELETE", f"{PATH}/1")):
        answer = token.send(method, path, 403, json=BODY)
        assert answer.json["code"] == "insufficient_scope"


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("name", [None, "", " ", "x" * 81, 5]),
        ("scopes", [None, [], "workspaces:read", ["root"], ["workspaces:read"] * 51]),
        ("type", ["owner", "root", "", None, 5]),
        ("days", [0, 367, True, None]),
    ],
)
def test_invalid_input_is_rejected(olga: Person, member: str, values: list[Any]) -> None:
    api = olga.api()
    for value in values:
        answer = api.post(PATH, 422, json={**BODY, member: value})
        assert {fault.partition(".")[0] for fault in answer.faults} == {f"json:{member}"}
    body = {name: value for name, value in BODY.items() if name != member}
    api.post(PATH, 201 if member == "days" else 422, json=body)


def test_recent_sign_in_is_needed(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__FRESH_MINUTES="5")
    api = person("bob", into=app).api()
    api.post("/workspaces", json={"slug": "team", "name": "Team"})
    created = api.post(PATH, 201, json=BODY).json
    clock.step(minutes=6)
    for method, path in (("GET", PATH), ("POST", PATH), ("DELETE", f"{PATH}/{created['id']}")):
        answer = api.send(method, path, 401, json=BODY)
        assert answer.json["code"] == "reauthentication_required"


def test_workspace_has_25_valid_tokens_at_most(
    olga: Person, ada: Person, make_team_token: MakeTeamToken, clock: SteppingClock
) -> None:
    join(olga, ada, "admin")
    for days in (1, *[2] * 22):
        make_team_token(days=days)
    creators = [olga.api(), ada.api()] * 3
    statuses = run_concurrently(*[request(api, "POST", PATH, json=BODY) for api in creators])
    assert statuses == [201, 201, 409, 409, 409, 409]
    api = olga.api()
    assert api.post(PATH, 409, json=BODY).json["code"] == "quota_reached"
    api.post("/workspaces/other/tokens", 201, json=BODY)
    clock.step(days=1)
    api.post(PATH, 201, json=BODY)


def test_disabled_feature_has_no_routes(make_app: MakeApp, person: MakePerson) -> None:
    api = person("bob", into=make_app()).api()
    assert api.get(PATH, 404).json["code"] == "feature_off"
    api.as_token("fdw_" + "0" * 38).get("/workspaces/team", 401)
