"""Requests with a token of a workspace."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app import (
    HeaderResolver,
    active_account_required,
    active_caller_required,
    active_member_required,
    current_account,
    current_member,
    current_workspace,
    scope,
    workspace_roles_required,
)
from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from .conftest import TEAM_TOKENS, MakeTeamToken, TeamProgram, join

TEAM = "/workspaces/team"


def test_token_reads_its_own_workspace(app: Flask, olga: Person, team_program: TeamProgram) -> None:
    token = team_program("workspaces:read", type="member")
    for slug in ("team", "current", "default"):
        found = token.get(f"/workspaces/{slug}").json
        assert (found["slug"], found["type"], found["status"]) == ("team", "member", "active")
    assert token.get("/workspaces/other", 403).json["code"] == "not_a_member"
    token.get("/workspaces/nowhere", 404)
    with noted_queries(app) as statements:
        token.get(TEAM)
    assert len(statements) == 2, statements


def test_token_needs_the_scope_of_the_route(olga: Person, team_program: TeamProgram) -> None:
    token = team_program("workspaces:read")
    for method, path in (("GET", f"{TEAM}/members"), ("GET", f"{TEAM}/events"), ("PATCH", TEAM)):
        answer = token.send(method, path, 403, json={"name": "Mine"})
        assert answer.json["code"] == "insufficient_scope"
    assert olga.api().get(TEAM).json["name"] == "Team"


def test_other_routes_need_an_account(olga: Person, ada: Person, team_program: TeamProgram) -> None:
    join(olga, ada)
    every_scope = [each["name"] for each in olga.api().get("/scopes").json]
    token = team_program(*every_scope)
    for method, path, body in (
        ("GET", "/account", None),
        ("GET", "/notifications", None),
        ("GET", "/workspaces", None),
        ("GET", "/profiles", None),
        ("GET", "/account/events", None),
        ("GET", "/admin/accounts", None),
        ("GET", "/admin/events", None),
        ("POST", f"{TEAM}/members", {"email": "new@example.com"}),
        ("GET", f"{TEAM}/invitations", None),
        ("POST", f"{TEAM}/invitations", {"email": "new@example.com"}),
        ("POST", f"{TEAM}/invitations/1/resend", None),
        ("DELETE", f"{TEAM}/invitations/1", None),
        ("PUT", f"/team/profiles/{ada.id}", {"city": "Rome"}),
    ):
        answer = token.send(method, path, 403, json=body)
        assert answer.json["code"] == "account_required", path
    for method, path in (
        ("DELETE", "/logout"),
        ("DELETE", TEAM),
        ("PUT", "/workspaces/current"),
        ("PATCH", "/account"),
    ):
        answer = token.send(method, path, 403, json={"slug": "team", "name": "Team"})
        assert answer.json["code"] == "insufficient_scope", path


def test_admin_token_manages_members_but_no_owners(
    olga: Person, ada: Person, person: MakePerson, team_program: TeamProgram
) -> None:
    bob, members = person("bob"), f"{TEAM}/members"
    for each in (ada, bob):
        join(olga, each)
    token = team_program("members:read", "members:write")
    assert [each["email"] for each in token.get(members).json] == [
        each.email for each in (olga, ada, bob)
    ]
    found = token.get(members, query_string={"search": "bob"}).json
    assert [each["email"] for each in found] == [bob.email]
    assert token.patch(f"{members}/{ada.id}", json={"type": "admin"}).json["type"] == "admin"
    assert token.delete(f"{members}/{bob.id}").json["email"] == bob.email
    for method, path, body, status, code in (
        ("PATCH", f"{members}/{ada.id}", {"type": "owner"}, 403, "not_authorized"),
        ("PATCH", f"{members}/{olga.id}", {"type": "guest"}, 403, "not_authorized"),
        ("DELETE", f"{members}/{olga.id}", None, 403, "not_authorized"),
        ("DELETE", f"{members}/{bob.id}", None, 404, "member_not_found"),
        ("DELETE", f"/workspaces/other/members/{olga.id}", None, 403, "not_a_member"),
    ):
        assert token.send(method, path, status, json=body).json["code"] == code
    assert [each["type"] for each in token.get(members).json] == ["owner", "admin"]


@pytest.mark.parametrize("kind", ["member", "guest"])
def test_token_that_is_no_admin_changes_nothing(
    olga: Person, ada: Person, team_program: TeamProgram, kind: str
) -> None:
    join(olga, ada)
    token = team_program("members:read", "members:write", "audit:read", type=kind)
    member = f"{TEAM}/members/{ada.id}"
    for method, path in (("PATCH", member), ("DELETE", member), ("GET", f"{TEAM}/events")):
        answer = token.send(method, path, 403, json={"type": "guest"})
        assert answer.json["code"] == "not_authorized"
    assert len(token.get(f"{TEAM}/members").json) == 2


@pytest.mark.parametrize("rule", ["everyone", "workspaces", "private"])
def test_token_sees_the_profiles_that_a_member_sees(
    make_app: MakeApp, person: MakePerson, rule: str
) -> None:
    app = make_app(
        AUTH__PERSONAL_TOKENS="on",
        WORKSPACES__ADDING="direct",
        PROFILES__VISIBILITY=rule,
        PROFILES__PUBLIC_FIELDS='["first_name"]',
    )
    olga, ada, bob = (person(name, into=app) for name in ("olga", "ada", "bob"))
    api = olga.api()
    api.post("/workspaces", json={"slug": "team", "name": "Team"})
    for each in (ada, bob):
        each.api().post("/profiles", json={**ADA, "first_name": "Zelda"})
    join(olga, ada)
    body = {"name": "Sync", "scopes": ["profiles:read", "members:read"], "type": "guest"}
    token = api.as_token(api.post(TEAM_TOKENS, 201, json=body).json["token"])
    seen = 404 if rule == "private" else 200
    header = {"X-Workspace": "team"}
    for path, headers in ((f"/team/profiles/{ada.id}", {}), (f"/profiles/{ada.id}", header)):
        profile = token.get(path, seen, headers=headers).json
        assert rule == "private" or set(profile) == {"id", "account_id", "first_name"}
    token.get(f"/team/profiles/{bob.id}", 404)
    refused = token.get(f"/profiles/{ada.id}", 403)
    assert refused.json["code"] == "insufficient_scope"
    query = {"search": "zelda"}
    found = token.get(f"{TEAM}/members", query_string=query).json
    assert [each["account_id"] for each in found] == ([] if rule == "private" else [ada.id])
    api.patch(f"{TEAM}/members/{ada.id}", json={"status": "suspended"})
    token.get(f"/team/profiles/{ada.id}", 200 if rule == "everyone" else 404)


def test_ended_and_expired_tokens_are_rejected_before_their_scopes(
    olga: Person, make_team_token: MakeTeamToken, clock: SteppingClock
) -> None:
    api = olga.api()
    short, long = make_team_token(days=1), make_team_token(days=2)
    api.delete(f"{TEAM_TOKENS}/{long['id']}")
    clock.step(days=1)
    for created, reason in ((short, "expired"), (long, "revoked")):
        token = api.as_token(created["token"])
        for path in (TEAM, "/account", "/personal-tokens"):
            assert token.get(path, 401).json["reason"] == reason


def test_token_survives_its_creator(
    app: Flask, olga: Person, ada: Person, team_program: TeamProgram
) -> None:
    join(olga, ada, "owner")
    token = team_program("workspaces:read", "members:write", creator=ada)
    api, member = olga.api(), f"{TEAM}/members/{ada.id}"
    api.patch(member, json={"type": "guest"})
    assert token.get(TEAM).json["type"] == "admin"
    ada.change(status="suspended", password="another long passphrase")
    token.get(TEAM)
    assert token.delete(member).json["type"] == "guest"
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    token.get(TEAM)
    api.delete(TEAM)
    token.get(TEAM, 401)


def test_audit_log_has_the_token_as_the_actor(
    olga: Person, ada: Person, person: MakePerson, make_team_token: MakeTeamToken
) -> None:
    join(olga, ada)
    created = make_team_token("members:write", "audit:read")
    token = olga.api().as_token(created["token"])
    token.patch(f"{TEAM}/members/{ada.id}", json={"type": "guest"})
    token.delete(f"{TEAM}/members/{olga.id}", 403)
    token.get("/account", 403)
    token.get("/workspaces/other/events", 403)
    olga.api().delete(f"{TEAM_TOKENS}/{created['id']}")
    entries = olga.api().get(f"{TEAM}/events").json
    named = {"id": created["id"], "name": "Sync"}
    refused = [each for each in entries if each["type"] == "access.refused"]
    [updated] = [each for each in entries if each["type"] == "member.updated"]
    for entry in (updated, *refused):
        assert (entry["actor_kind"], entry["actor_id"]) == ("token", None)
        assert entry["data"]["token"] == named
    assert updated["account_id"] == ada.id
    assert len(refused) == 3
    managed = [each for each in entries if each["type"].startswith("workspace_token.")]
    assert [(each["type"], each["actor_id"], each["target_id"]) for each in managed] == [
        (f"workspace_token.{name}", olga.id, str(created["id"])) for name in ("ended", "created")
    ]
    assert managed[1]["data"]["type"] == "admin"
    assert created["prefix"] not in str(entries)
    others = olga.api().get("/workspaces/other/events").json
    assert not any(each["actor_kind"] == "token" for each in others)
    # The affected account does not see where the program runs.
    [own] = [each for each in ada.api().get("/account/events").json if each["id"] == updated["id"]]
    assert (own["address"], own["user_agent"], own["request_id"]) == (None, None, None)
    root = person("root", role="root").api()
    assert root.get("/admin/events").json[0]["type"] == "login.succeeded"
    for api, path, shown in (
        (olga.api(), "/workspaces/team/activity", "Token Sync"),
        (olga.api(), "/workspaces/team/activity", "Workspace token ended · <bdi>Sync</bdi>"),
        (ada.api(), "/account/activity", "Token Sync"),
        (root, "/admin/events", "Token Sync"),
        (root, "/admin/events", "id: "),
        (root, "/admin/events.csv", "Token Sync"),
    ):
        page = Api(api.app, "", api.token).get(path, headers={"Accept": "text/html"})
        assert shown in page.response.text, path


def test_new_network_is_an_action_of_the_token(
    olga: Person, team_program: TeamProgram, clock: SteppingClock
) -> None:
    token = team_program()
    for address in ("192.0.2.1", "192.0.2.200", "198.51.100.7"):
        clock.step(minutes=61)
        token.get(TEAM, environ_overrides={"REMOTE_ADDR": address})
    [entry] = [
        each
        for each in olga.api().get(f"{TEAM}/events").json
        if each["type"] == "workspace_token.network_added"
    ]
    assert entry["data"]["network"] == "198.51.100.0/24"
    assert (entry["actor_kind"], entry["data"]["token"]["name"]) == ("token", "Sync")


def test_requests_of_each_token_are_limited_by_the_minute(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__PERSONAL_TOKEN_LIMIT="2")
    api = person("bob", into=app).api()
    api.post("/workspaces", json={"slug": "team", "name": "Team"})
    body = {"name": "Sync", "scopes": ["workspaces:read"], "type": "admin"}
    token = api.as_token(api.post(TEAM_TOKENS, 201, json=body).json["token"])
    for status in (200, 200, 429):
        token.get(TEAM, status)


@pytest.fixture
def shop(app: Flask) -> Flask:
    """The service with routes of an application."""

    def show(**_path: Any) -> dict[str, Any]:
        shown = {"type": current_member.type, "account_id": current_member.account_id}
        return {"workspace": current_workspace.slug, **shown}

    def show_account(**_path: Any) -> dict[str, Any]:
        return {"email": current_account.email}

    by_header = active_member_required(resolver=HeaderResolver())
    by_path = workspace_roles_required("owner", "admin")
    read = scope("workspaces:read")
    for name, view in {
        "/orders": active_caller_required(by_header(read(show))),
        "/<workspace_slug>/orders": active_caller_required(by_path(read(show))),
        "/<workspace_slug>/mine": active_account_required(by_path(read(show))),
        "/<workspace_slug>/mail": active_caller_required(by_path(read(show_account))),
    }.items():
        app.add_url_rule(f"/api/v1{name}", name, view)
    return app


def test_routes_of_an_application_accept_the_token(
    shop: Flask, olga: Person, team_program: TeamProgram
) -> None:
    admin, guest = team_program(), team_program(type="guest")
    expected = {"workspace": "team", "account_id": None}
    for slug in ("team", "current", "default"):
        header = {"X-Workspace": slug}
        for token, kind in ((admin, "admin"), (guest, "guest")):
            assert token.get("/orders", headers=header).json == {**expected, "type": kind}
        assert admin.get(f"/{slug}/orders").json == {**expected, "type": "admin"}
    guest.get("/team/orders", 403)
    admin.get("/orders", 403, headers={"X-Workspace": "other"})
    admin.get("/orders", 404)
    for path in ("/team/mine", "/team/mail"):
        assert admin.get(path, 403).json["code"] == "account_required"
