"""Members of a workspace, and what each type may do to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.core.context import current_frontdesk
from app.testing.client import Answer, Api
from app.workspaces.models import Member

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.racing import request, run_concurrently

TYPES = ("owner", "admin", "member", "guest")
BEYOND = 10**30


@dataclass
class Team:
    """A workspace with one owner, Olga, who adds others."""

    olga: Person
    owner: Api
    path: str = "/workspaces/team/members"

    def admit(self, person: Person, kind: str = "member", status: str = "active") -> Api:
        body = {"email": person.email, "type": kind, "status": status}
        self.owner.post(self.path, json=body)
        return person.api()

    def types(self) -> dict[str, str]:
        members = self.owner.get(self.path).json
        return {member["email"].partition("@")[0]: member["type"] for member in members}


@pytest.fixture
def team(person: MakePerson) -> Team:
    olga = person("olga")
    owner = olga.api()
    owner.post("/workspaces", json={"name": "Team", "slug": "team"})
    return Team(olga, owner)


def test_member_is_added_by_email(team: Team, ada: Person) -> None:
    member = team.owner.post(team.path, json={"email": " ADA@Example.com"}).json
    assert set(member) == {
        "id",
        "workspace_id",
        "account_id",
        "email",
        "type",
        "status",
        "created_at",
    }
    assert (member["account_id"], member["email"]) == (ada.id, ada.email)
    assert (member["type"], member["status"]) == ("member", "active")
    assert ada.api().get("/workspaces/team").json["type"] == "member"


def test_unknown_email_is_not_found(team: Team) -> None:
    response = team.owner.post(team.path, 404, json={"email": "unknown@example.com"})
    assert response.detail == "Account not found"


def test_existing_member_cannot_be_added_again(team: Team, ada: Person) -> None:
    team.admit(ada)
    response = team.owner.post(team.path, 409, json={"email": ada.email, "type": "guest"})
    assert response.detail == "Already a member of this workspace"
    assert team.types()["ada"] == "member"


def test_concurrent_additions_add_one_member(team: Team, ada: Person) -> None:
    add = request(team.owner, "POST", team.path, json={"email": ada.email})
    assert run_concurrently(*[add] * 6) == [200] + [409] * 5


@for_each(
    ("body", "faults"),
    [
        ({}, ["json:email"]),
        ({"email": ""}, ["json:email"]),
        ({"email": "a\0b@example.com"}, ["json:email"]),
        ({"email": "x", "type": "king"}, ["json:type"]),
        ({"email": "x", "type": None, "status": ""}, ["json:status", "json:type"]),
        ({"email": "x", "status": "x" * 51}, ["json:status"]),
        ({"email": "ada@example.com", "status": "On leave"}, ["json:status"]),
        ({"email": "ada@example.com", "status": "away\n"}, ["json:status"]),
        ({"email": "ada@example.com", "status": "x;=1+1;y"}, ["json:status"]),
    ],
)
def test_invalid_body_is_a_422(
    team: Team, ada: Person, body: dict[str, Any], faults: list[str]
) -> None:
    assert sorted(team.owner.post(team.path, 422, json=body).faults) == faults


def test_stored_status_of_an_earlier_version_is_shown_and_stays(
    app: Flask, team: Team, ada: Person
) -> None:
    team.admit(ada)
    with app.app_context():
        of_ada = update(Member).where(Member.account_id == ada.id, Member.type == "member")
        current_frontdesk.session.execute(of_ada.values(status="On leave"))
        current_frontdesk.session.commit()
    path = f"{team.path}/{ada.id}"
    for body in ({"type": "guest"}, {"type": "guest", "status": "On leave"}):
        assert team.owner.patch(path, json=body).json["status"] == "On leave"
    for status in ("On holiday", "x;=1+1;y"):
        assert team.owner.patch(path, 422, json={"status": status}).faults == ["json:status"]
    assert team.owner.patch(path, json={"status": "on_leave-2"}).json["status"] == "on_leave-2"


def test_every_active_member_lists_the_members(team: Team, person: MakePerson) -> None:
    for kind in TYPES:
        api = team.admit(person(kind), kind)
        assert len(api.get(team.path).json) >= 2
    suspended = team.admit(person("sue"), status="suspended")
    assert suspended.get(team.path, 401).detail == "User is not active"
    outsider = person("outsider").api()
    assert outsider.get(team.path, 403).detail == "User not found in specified workspace"


def test_list_is_paginated_in_order_of_joining(team: Team, person: MakePerson) -> None:
    for name in ("ada", "bob", "cyd"):
        team.admit(person(name))
    emails = [member["email"] for member in team.owner.get(f"{team.path}?offset=1&limit=2").json]
    assert emails == ["ada@example.com", "bob@example.com"]


# Which type (row) may act on which other type (column): adding a member with the type, changing a
# member from and to the type, and removing a member with the type.
TABLE = {
    "owner": {"owner": True, "admin": True, "member": True, "guest": True},
    "admin": {"owner": False, "admin": True, "member": True, "guest": True},
    "member": {"owner": False, "admin": False, "member": False, "guest": False},
    "guest": {"owner": False, "admin": False, "member": False, "guest": False},
}
CASES = [(actor, other, TABLE[actor][other]) for actor in TYPES for other in TYPES]


def expect(allowed: bool) -> int:
    return 200 if allowed else 403


@for_each(("actor", "other", "allowed"), CASES)
def test_add_by_type(team: Team, person: MakePerson, actor: str, other: str, allowed: bool) -> None:
    api = team.admit(person(new_name("actor")), actor)
    name = new_name("other")
    body = {"email": person(name).email, "type": other}
    response = api.post(team.path, expect(allowed), json=body)
    assert allowed or response.detail == "Not authorized"
    assert team.types().get(name) == (other if allowed else None)


@for_each(("actor", "other", "allowed"), CASES)
def test_change_from_type(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    name = new_name("other")
    api, target = team.admit(person(new_name("actor")), actor), person(name)
    team.admit(target, other)
    response = api.patch(f"{team.path}/{target.id}", expect(allowed), json={"type": "guest"})
    assert allowed or response.detail == "Not authorized"
    assert team.types()[name] == ("guest" if allowed else other)


@for_each(("actor", "other", "allowed"), CASES)
def test_change_to_type(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    name = new_name("other")
    api, target = team.admit(person(new_name("actor")), actor), person(name)
    team.admit(target, "guest")
    api.patch(f"{team.path}/{target.id}", expect(allowed), json={"type": other})
    assert team.types()[name] == (other if allowed else "guest")


@for_each(("actor", "other", "allowed"), CASES)
def test_remove_by_type(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    name = new_name("other")
    api, target = team.admit(person(new_name("actor")), actor), person(name)
    team.admit(target, other)
    response = api.delete(f"{team.path}/{target.id}", expect(allowed))
    assert response.json.get("email") == (target.email if allowed else None)
    assert (name in team.types()) is not allowed


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("status", ["active", "suspended"])
def test_every_member_can_leave(team: Team, ada: Person, kind: str, status: str) -> None:
    api = team.admit(ada, kind, status)
    assert api.delete(f"{team.path}/{ada.id}").json["email"] == ada.email
    assert "ada" not in team.types()
    assert api.get(team.path, 403).detail == "User not found in specified workspace"


@pytest.mark.parametrize("kind", ["owner", "admin"])
def test_inactive_member_cannot_manage(team: Team, person: MakePerson, kind: str) -> None:
    api, target = team.admit(person("actor"), kind, "suspended"), person("other")
    team.admit(target)
    assert api.patch(f"{team.path}/{target.id}", 401, json={}).detail == "User is not active"
    assert api.delete(f"{team.path}/{target.id}", 401).detail == "User is not active"
    assert api.post(team.path, 401, json={}).detail == "User is not active"


def test_type_and_status_are_changed_independently(team: Team, ada: Person) -> None:
    team.admit(ada)
    path = f"{team.path}/{ada.id}"
    assert team.owner.patch(path, json={"status": "invited"}).json["type"] == "member"
    changed = team.owner.patch(path, json={"type": "admin"}).json
    assert (changed["type"], changed["status"]) == ("admin", "invited")
    assert team.owner.patch(path, json={}).json == changed


LAST_OWNER_CHANGES = [
    ("DELETE", None),
    ("PATCH", {"type": "admin"}),
    ("PATCH", {"status": "suspended"}),
    ("PATCH", {"type": "guest", "status": "suspended"}),
]


@pytest.mark.parametrize(("method", "body"), LAST_OWNER_CHANGES)
def test_last_owner_cannot_go(
    team: Team, person: MakePerson, method: str, body: dict[str, str] | None
) -> None:
    team.admit(person("ada"), "admin")
    team.admit(person("sue"), "owner", "suspended")
    path = f"{team.path}/{team.olga.id}"
    response = team.owner.send(method, path, 409, json=body)
    assert response.detail == "A workspace needs an active owner"
    assert team.types()["olga"] == "owner"


@pytest.mark.parametrize(("method", "body"), LAST_OWNER_CHANGES)
def test_one_of_two_owners_can_go(
    team: Team, person: MakePerson, method: str, body: dict[str, str] | None
) -> None:
    second = team.admit(person("ada"), "owner")
    second.send(method, f"{team.path}/{team.olga.id}", 200, json=body)
    assert second.get("/workspaces/team").json["type"] == "owner"


def test_last_owner_can_be_set_to_owner_again(team: Team) -> None:
    path = f"{team.path}/{team.olga.id}"
    team.owner.patch(path, json={"type": "owner", "status": "active"})


def test_concurrent_leaving_keeps_one_owner(team: Team, person: MakePerson) -> None:
    ada = person("ada")
    second = team.admit(ada, "owner")

    first = request(team.owner, "DELETE", f"{team.path}/{team.olga.id}")
    other = request(second, "DELETE", f"{team.path}/{ada.id}")
    assert run_concurrently(first, other) == [200, 409]


def test_admin_demoted_during_the_request_cannot_change_members(
    team: Team, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decorator accepts the admin, and an owner demotes the admin before the change."""
    from app.workspaces.members import Members

    admin, target = person("admin"), person("other")
    api = team.admit(admin, "admin")
    team.admit(target)
    original = Members.update

    def demote_then_change(self: Members, *args: Any) -> Any:
        monkeypatch.setattr(Members, "update", original)
        team.owner.patch(f"{team.path}/{admin.id}", json={"type": "guest"})
        return self.update(*args)

    monkeypatch.setattr(Members, "update", demote_then_change)
    api.patch(f"{team.path}/{target.id}", 403, json={"type": "guest"})
    assert team.types()["other"] == "member"


def not_found(response: Answer) -> bool:
    return response.detail == "Member not found"


@for_each("account_id", [999, 0, -1, 2**31, 2**63 - 1, 2**63, BEYOND])
def test_unknown_account_is_not_found(team: Team, account_id: int) -> None:
    assert not_found(team.owner.patch(f"{team.path}/{account_id}", 404, json={"type": "guest"}))
    assert not_found(team.owner.delete(f"{team.path}/{account_id}", 404))


@for_each("account_id", ["x", "1_0", "٣", "1.5", "1e3", "%00"])
def test_malformed_id_is_not_found(team: Team, account_id: str) -> None:
    team.owner.delete(f"{team.path}/{account_id}", 404)


def test_member_of_another_workspace_is_not_found(team: Team, ada: Person) -> None:
    assert not_found(team.owner.delete(f"{team.path}/{ada.id}", 404))
    assert ada.api().get("/workspaces/ada").json["type"] == "owner"


def test_members_without_rights_learn_nothing_about_accounts(
    team: Team, person: MakePerson
) -> None:
    guest, target = team.admit(person("guest"), "guest"), person("other")
    for account_id in (target.id, team.olga.id, 999, BEYOND):
        assert guest.delete(f"{team.path}/{account_id}", 403).detail == "Not authorized"
        response = guest.patch(f"{team.path}/{account_id}", 403, data="not json")
        assert response.detail == "Not authorized"


def test_account_can_have_different_types_in_two_workspaces(team: Team, ada: Person) -> None:
    api = team.admit(ada, "guest")
    found = {workspace["slug"]: workspace["type"] for workspace in api.get("/workspaces").json}
    assert found == {"ada": "owner", "team": "guest"}
    api.post(team.path, 403, json={"email": "x"})
    api.post("/workspaces/ada/members", 404, json={"email": "unknown@example.com"})
