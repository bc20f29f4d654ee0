"""Requests with a personal token."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.tokens.models import PersonalToken

from ..conftest import MakeApp, MakePerson, Person
from .conftest import MakeToken, Program

ADDRESSES = ("192.0.2.1", "192.0.2.200", "198.51.100.7", "2001:db8:1::1", "2001:db8:1:2::3")


def test_token_needs_the_scope_of_the_route(ada: Person, program: Program) -> None:
    reader = program(ada, "profiles:read")
    answer = reader.get("/account", 403)
    assert answer.json["code"] == "insufficient_scope"
    assert answer.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", scope="account:read"'
    )
    assert program(ada, "account:read").get("/account").json["id"] == ada.id


def test_token_has_the_rights_of_its_account_at_that_moment(
    person: MakePerson, program: Program
) -> None:
    boss = person("boss", role="admin")
    token = program(boss, "accounts:read")
    token.get("/admin/accounts")
    boss.change(role="user")
    token.get("/admin/accounts", 403)


def test_expired_token_is_rejected(ada: Person, program: Program, clock: SteppingClock) -> None:
    token = program(ada, days=1)
    clock.step(hours=23)
    token.get("/account")
    clock.step(hours=1)
    assert token.get("/account", 401).json["reason"] == "expired"
    # Also before its scopes are compared.
    token.get("/sessions", 404)
    token.get("/personal-tokens", 401)


def test_account_is_read_with_its_token_by_one_query(
    app: Flask, ada: Person, program: Program
) -> None:
    token = program(ada)
    token.get("/account")
    with noted_queries(app) as statements:
        token.get("/account")
    assert len(statements) == 1, statements


def test_token_of_an_inactive_account_is_rejected_while_it_is_inactive(
    ada: Person, program: Program
) -> None:
    token = program(ada)
    ada.change(status="inactive")
    assert token.get("/account", 401).json["code"] == "account_inactive"
    ada.change(status="active")
    token.get("/account")


def test_time_of_use_is_stored_once_an_hour(
    ada: Person, make_token: MakeToken, clock: SteppingClock
) -> None:
    token = Api(ada.app, token=make_token(ada)["token"])
    seen = []
    for minutes in (0, 59, 2):
        clock.step(minutes=minutes)
        token.get("/account")
        seen.append(datetime.fromisoformat(last_used(ada)))
    assert seen[0] == seen[1] < seen[2]


def last_used(person: Person) -> str:
    [token] = person.api().get("/personal-tokens").json
    return str(token["last_used_at"])


def send_from(token: Api, address: str) -> None:
    token.get("/account", environ_overrides={"REMOTE_ADDR": address})


def network_entries(person: MakePerson) -> list[str]:
    root = person("root", role="root").api()
    entries = root.get("/admin/events", query_string={"type": "personal_token.network_added"}).json
    return [each["data"]["network"] for each in reversed(entries)]


def test_new_networks_are_audited_once_an_hour(
    ada: Person, person: MakePerson, program: Program, clock: SteppingClock
) -> None:
    token = program(ada)
    for address in ADDRESSES:
        send_from(token, address)
    clock.step(minutes=61)
    for address in (*ADDRESSES, *ADDRESSES):
        send_from(token, address)
    clock.step(minutes=61)
    for address in (*ADDRESSES, "203.0.113.9"):
        send_from(token, address)
    assert network_entries(person) == ["198.51.100.0/24", "2001:db8:1::/48", "203.0.113.0/24"]


def test_networks_are_not_stored_without_addresses(
    make_app: MakeApp, person: MakePerson, program: Program
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__SESSION_ADDRESSES="none")
    token = program(person("bob", into=app))
    for address in ADDRESSES:
        send_from(token, address)
    with app.app_context():
        assert current_frontdesk.session.query(PersonalToken).one().networks == ""


def test_requests_of_each_token_are_limited_by_the_minute(
    make_app: MakeApp, person: MakePerson, program: Program, clock: SteppingClock
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__PERSONAL_TOKEN_LIMIT="3")
    bob = person("bob", into=app)
    token, other = program(bob), program(bob)
    for _ in range(3):
        token.get("/account")
    with noted_queries(app) as statements:
        answer = token.get("/account", 429)
    assert not any("frontdesk_personal_tokens" in each for each in statements)
    assert answer.json["code"] == "too_many_requests"
    wait = int(answer.headers["Retry-After"])
    assert 0 < wait <= 60
    other.get("/account")
    clock.step(seconds=wait)
    token.get("/account")


@pytest.fixture
def team(ada: Person, person: MakePerson) -> Api:
    """The client of an owner of the workspace that Ada belongs to."""
    olga = person("olga").api()
    olga.post("/workspaces", json={"slug": "team", "name": "Team"})
    olga.post("/workspaces", json={"slug": "other", "name": "Other"})
    for slug in ("team", "other"):
        olga.post(f"/workspaces/{slug}/members", json={"email": ada.email, "type": "member"})
    return olga


def test_token_of_a_workspace_is_rejected_elsewhere(
    ada: Person, team: Api, program: Program, make_token: MakeToken
) -> None:
    scopes = ("account:read", "workspaces:read", "members:read", "notifications:read")
    token = program(ada, *scopes, workspace="team")
    assert ada.api().get("/personal-tokens").json[0]["workspace"] == "team"
    assert token.get("/workspaces/team").json["slug"] == "team"
    token.get("/workspaces/team/members")
    token.get("/workspaces/other", 403)
    token.get("/workspaces/other/members", 403)
    assert token.get("/workspaces", 403).json["code"] == "insufficient_scope"
    token.get("/account")
    token.get("/notifications")


def test_token_of_a_workspace_ends_with_the_membership(
    ada: Person, team: Api, program: Program
) -> None:
    token, unbound = program(ada, workspace="team"), program(ada)
    team.delete(f"/workspaces/other/members/{ada.id}")
    token.get("/account")
    member: dict[str, Any] = {"email": ada.email, "type": "member"}
    team.delete(f"/workspaces/team/members/{ada.id}")
    token.get("/account", 401)
    team.post("/workspaces/team/members", json=member)
    token.get("/account", 401)
    unbound.get("/account")


def test_token_of_a_workspace_ends_with_the_workspace(
    ada: Person, team: Api, program: Program
) -> None:
    token, unbound = program(ada, workspace="team"), program(ada)
    team.delete("/workspaces/team", query_string={"confirm": "team"})
    token.get("/account", 401)
    unbound.get("/account")


def test_inactive_member_binds_no_token(ada: Person, team: Api) -> None:
    team.patch(f"/workspaces/team/members/{ada.id}", json={"status": "suspended"})
    body = {"name": "Backup", "scopes": ["account:read"], "workspace": "team"}
    assert ada.api().post("/personal-tokens", 422, json=body).faults == ["json:workspace"]


def test_token_of_a_root_manages_no_admins(
    person: MakePerson, ada: Person, program: Program
) -> None:
    token = program(person("root", role="root"), "accounts:write")
    admin = person("boss", role="admin")
    body = {"email": "new@example.com", "password": "a long new passphrase"}
    assert token.post("/admin/accounts/", 201, json=body).json["role"] == "user"
    for role in ("admin", "root"):
        other = {**body, "email": f"{role}@example.com", "role": role}
        assert token.post("/admin/accounts/", 403, json=other).json["code"] == "not_authorized"
        token.patch(f"/admin/accounts/{ada.id}", 403, json={"role": role})
    token.patch(f"/admin/accounts/{admin.id}", 403, json={"status": "suspended"})
