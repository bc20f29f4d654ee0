"""Renaming and deleting workspaces, and searching for members."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.workspaces.invitations.models import Invitation
from app.workspaces.models import Member

from ..conftest import MakePerson, Person
from ..rigs.racing import request, run_concurrently


@pytest.fixture
def api(ada: Person) -> Api:
    client = ada.api()
    client.post("/workspaces", json={"name": "Garden"})
    return client


def audit_entries(app: Flask, name: str) -> list[dict[str, object]]:
    with app.app_context():
        found = current_frontdesk.session.scalars(
            select(AuditEntry.data).where(AuditEntry.type == name)
        )
        return list(found)


def test_name_and_slug_can_be_changed(app: Flask, api: Api) -> None:
    changed = api.patch("/workspaces/garden", json={"name": "Orchard", "slug": "orchard"}).json
    assert (changed["name"], changed["slug"], changed["type"]) == ("Orchard", "orchard", "owner")
    api.get("/workspaces/garden", 404)
    assert api.get("/workspaces/orchard").json == changed
    api.patch("/workspaces/orchard", json={"name": "Orchard"})
    assert audit_entries(app, "workspace.updated") == [{"changed": ["name", "slug"]}]


def test_taken_or_reserved_slug_is_rejected(api: Api) -> None:
    taken = api.patch("/workspaces/garden", 409, json={"slug": "ada", "name": "Other"})
    assert taken.json["code"] == "slug_taken"
    assert api.patch("/workspaces/garden", 422, json={"slug": "admin"}).faults
    assert api.get("/workspaces/garden").json["name"] == "Garden"


def test_concurrent_changes_to_one_slug_succeed_once(api: Api) -> None:
    api.post("/workspaces", json={"name": "Meadow"})
    responses = run_concurrently(
        *(
            request(api, "PATCH", f"/workspaces/{slug}", json={"slug": "pasture"})
            for slug in ("garden", "meadow")
        )
    )
    assert responses == [200, 409]


def test_managers_change_and_only_owners_delete(api: Api, ada: Person, person: MakePerson) -> None:
    for name, kind in (("bob", "admin"), ("grace", "member")):
        other = person(name)
        api.post("/workspaces/garden/members", json={"email": other.email, "type": kind})
        other_api = other.api()
        status = 200 if kind == "admin" else 403
        other_api.patch("/workspaces/garden", status, json={"name": f"Changed by {name}"})
        other_api.delete("/workspaces/garden", 403)
    assert api.get("/workspaces/garden").json["name"] == "Changed by bob"


def test_deleting_removes_members_and_invitations(app: Flask, api: Api, person: MakePerson) -> None:
    bob = person("bob")
    api.post("/workspaces/garden/members", json={"email": bob.email})
    api.post("/workspaces/garden/invitations", 201, json={"email": "grace@example.com"})
    assert api.delete("/workspaces/garden?name=Gardem", 422).faults
    deleted = api.delete("/workspaces/garden?name=Garden").json
    assert (deleted["slug"], deleted["name"]) == ("garden", "Garden")
    api.get("/workspaces/garden", 404)
    assert [each["slug"] for each in bob.api().get("/workspaces").json] == ["bob"]
    with app.app_context():
        for model in (Member, Invitation):
            rows = select(model.id).where(model.workspace_id == deleted["id"])
            assert current_frontdesk.session.scalars(rows).all() == []
    assert len(audit_entries(app, "workspace.deleted")) == 1


def test_deletion_requires_a_recent_sign_in(api: Api, clock: SteppingClock) -> None:
    clock.step(minutes=16)
    rejected = api.delete("/workspaces/garden", 401)
    assert "max_age" in rejected.headers["WWW-Authenticate"]
    api.get("/workspaces/garden")


def test_members_are_searched_by_prefix_of_the_email(api: Api, person: MakePerson) -> None:
    for name in ("bob", "bobby", "grace"):
        api.post("/workspaces/garden/members", json={"email": person(name).email})
    found = api.get("/workspaces/garden/members?search=BOB").json
    assert [each["email"] for each in found] == ["bob@example.com", "bobby@example.com"]
    assert api.get("/workspaces/garden/members?search=%25").json == []
    assert len(api.get("/workspaces/garden/members?search=bob&limit=1").json) == 1


def test_search_of_members_does_not_show_which_other_accounts_exist(
    api: Api, person: MakePerson
) -> None:
    api.post("/workspaces/garden/members", json={"email": person("xmallory").email})
    found = "/workspaces/garden/members?search=mallory@example.com"
    before = api.get(found).json
    person("mallory")
    assert api.get(found).json == before != []
