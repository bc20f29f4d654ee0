"""Another name or slug for a workspace, its end, and searching among its members."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.context import current_frontdesk
from app.core.records.models import Record
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.workspaces.invitations.models import Invitation
from app.workspaces.models import Member

from ..conftest import MakePerson, Person
from ..rigs.racing import at_once, request


@pytest.fixture
def api(ada: Person) -> Api:
    made = ada.api()
    made.post("/workspaces", json={"name": "Garden"})
    return made


def recorded(app: Flask, name: str) -> list[dict[str, object]]:
    with app.app_context():
        found = current_frontdesk.session.scalars(select(Record.data).where(Record.type == name))
        return list(found)


def test_a_workspace_gets_another_name_and_slug(app: Flask, api: Api) -> None:
    changed = api.patch("/workspaces/garden", json={"name": "Orchard", "slug": "orchard"}).json
    assert (changed["name"], changed["slug"], changed["type"]) == ("Orchard", "orchard", "owner")
    api.get("/workspaces/garden", 404)
    assert api.get("/workspaces/orchard").json == changed
    api.patch("/workspaces/orchard", json={"name": "Orchard"})
    assert recorded(app, "workspace.updated") == [{"changed": ["name", "slug"]}]


def test_a_slug_that_is_taken_or_reserved_is_refused(api: Api) -> None:
    taken = api.patch("/workspaces/garden", 409, json={"slug": "ada", "name": "Other"})
    assert taken.json["code"] == "slug_taken"
    assert api.patch("/workspaces/garden", 422, json={"slug": "admin"}).faults
    assert api.get("/workspaces/garden").json["name"] == "Garden"


def test_of_two_that_take_one_slug_at_once_one_does(api: Api) -> None:
    api.post("/workspaces", json={"name": "Meadow"})
    answers = at_once(
        *(
            request(api, "PATCH", f"/workspaces/{slug}", json={"slug": "pasture"})
            for slug in ("garden", "meadow")
        )
    )
    assert answers == [200, 409]


def test_only_managers_change_it_and_only_owners_delete_it(
    api: Api, ada: Person, person: MakePerson
) -> None:
    for name, kind in (("bob", "admin"), ("grace", "member")):
        somebody = person(name)
        api.post("/workspaces/garden/members", json={"email": somebody.email, "type": kind})
        theirs = somebody.api()
        status = 200 if kind == "admin" else 403
        theirs.patch("/workspaces/garden", status, json={"name": f"Of {name}"})
        theirs.delete("/workspaces/garden", 403)
    assert api.get("/workspaces/garden").json["name"] == "Of bob"


def test_a_deleted_workspace_takes_members_and_invitations_with_it(
    app: Flask, api: Api, person: MakePerson
) -> None:
    bob = person("bob")
    api.post("/workspaces/garden/members", json={"email": bob.email})
    api.post("/workspaces/garden/invitations", 201, json={"email": "grace@example.com"})
    assert api.delete("/workspaces/garden?name=Gardem", 422).faults
    gone = api.delete("/workspaces/garden?name=Garden").json
    assert (gone["slug"], gone["name"]) == ("garden", "Garden")
    api.get("/workspaces/garden", 404)
    assert [each["slug"] for each in bob.api().get("/workspaces").json] == ["bob"]
    with app.app_context():
        for model in (Member, Invitation):
            of_it = select(model.id).where(model.workspace_id == gone["id"])
            assert current_frontdesk.session.scalars(of_it).all() == []
    assert len(recorded(app, "workspace.deleted")) == 1


def test_a_deletion_asks_for_a_fresh_sign_in(api: Api, clock: SteppingClock) -> None:
    clock.step(minutes=16)
    refused = api.delete("/workspaces/garden", 401)
    assert "max_age" in refused.headers["WWW-Authenticate"]
    api.get("/workspaces/garden")


def test_members_are_found_by_how_their_address_begins(api: Api, person: MakePerson) -> None:
    for name in ("bob", "bobby", "grace"):
        api.post("/workspaces/garden/members", json={"email": person(name).email})
    found = api.get("/workspaces/garden/members?search=BOB").json
    assert [each["email"] for each in found] == ["bob@example.com", "bobby@example.com"]
    assert api.get("/workspaces/garden/members?search=%25").json == []
    assert len(api.get("/workspaces/garden/members?search=bob&limit=1").json) == 1
