"""Profiles within a workspace, named by path or header: members of two workspaces are separate."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Answer, Api

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from .test_profiles import ADA, BEYOND, ROUTES

OUTSIDE = "User not found in specified workspace"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(WORKSPACES__ADDING="direct")


@pytest.fixture
def olga(person: MakePerson) -> Person:
    """Owner of the workspace `north`, with a profile."""
    return _owner(person, "olga", "north")


@pytest.fixture
def sven(person: MakePerson) -> Person:
    """Owner of the workspace `south`, with a profile."""
    return _owner(person, "sven", "south")


def _owner(person: MakePerson, name: str, slug: str) -> Person:
    owner = person(name)
    api = owner.api()
    api.post("/workspaces", json={"name": slug, "slug": slug})
    api.post("/profiles", json={**ADA, "first_name": name})
    return owner


def ask(
    api: Api, scope: str, slug: str, method: str, path: str, status: int, **body: Any
) -> Answer:
    if scope == "path":
        return api.send(method, f"/{slug}{path}", status, **body)
    return api.send(method, path, status, headers={"X-Workspace": slug}, **body)


@pytest.fixture
def suspended(olga: Person, sven: Person) -> Person:
    """Sven as a suspended owner of Olga's workspace."""
    body = {"email": sven.email, "type": "owner", "status": "suspended"}
    olga.api().post("/workspaces/north/members", json=body)
    return sven


by_path_and_header = pytest.mark.parametrize("scope", ["path", "header"])


@by_path_and_header
def test_members_see_each_other(olga: Person, sven: Person, scope: str) -> None:
    owner_api = olga.api()
    owner_api.post("/workspaces/north/members", json={"email": sven.email, "type": "guest"})
    guest = sven.api()
    response = ask(guest, scope, "north", "GET", f"/profiles/{olga.id}", 200)
    assert response.json["first_name"] == "olga"
    response = ask(owner_api, scope, "north", "GET", f"/profiles/{sven.id}", 200)
    assert response.json["first_name"] == "sven"


@by_path_and_header
def test_members_of_two_workspaces_do_not_see_each_other(
    olga: Person, sven: Person, scope: str
) -> None:
    for one, own, other, others in ((olga, "north", sven, "south"), (sven, "south", olga, "north")):
        api = one.api()
        inside = ask(api, scope, own, "GET", f"/profiles/{other.id}", 404)
        assert inside.detail == "Profile not found"
        outside = ask(api, scope, others, "GET", f"/profiles/{other.id}", 403)
        assert outside.detail == OUTSIDE


@by_path_and_header
def test_admin_changes_only_members_profiles(
    olga: Person, sven: Person, person: MakePerson, scope: str
) -> None:
    admin = person("admin", role="admin")
    api = admin.api()
    response = ask(api, scope, "north", "PUT", f"/profiles/{olga.id}", 403, json={})
    assert response.detail == OUTSIDE
    olga.api().post("/workspaces/north/members", json={"email": admin.email})
    body = {"city": "Oslo"}
    response = ask(api, scope, "north", "PUT", f"/profiles/{olga.id}", 200, json=body)
    assert response.json["city"] == "Oslo"
    response = ask(api, scope, "north", "PUT", f"/profiles/{sven.id}", 404, json=body)
    assert response.detail == "Profile not found"
    assert sven.api().get("/profiles").json["city"] is None


@by_path_and_header
@for_each(("method", "path"), ROUTES)
def test_outsider_is_rejected_before_the_body_is_read(
    olga: Person, sven: Person, scope: str, method: str, path: str
) -> None:
    api = sven.api()
    response = ask(api, scope, "north", method, path, 403, data="not json")
    assert response.detail == OUTSIDE
    response = ask(api, scope, "nowhere", method, path, 404, data="not json")
    assert response.detail == "Workspace not found"
    assert sven.api().get("/profiles").json["first_name"] == "sven"


@by_path_and_header
@for_each(("method", "path"), ROUTES)
def test_inactive_membership_is_rejected(
    suspended: Person, scope: str, method: str, path: str
) -> None:
    response = ask(suspended.api(), scope, "north", method, path, 401, data="not json")
    assert response.detail == "User is not active"


@by_path_and_header
def test_own_profile_is_the_same_in_every_workspace(olga: Person, scope: str) -> None:
    api = olga.api()
    own = api.get("/profiles").json
    for slug in ("north", "olga", "current", "default"):
        assert ask(api, scope, slug, "GET", "/profiles", 200).json == own
        assert ask(api, scope, slug, "GET", f"/profiles/{olga.id}", 200).json == own
    response = ask(api, scope, "north", "PUT", "/profiles", 200, json={"city": "Oslo"})
    assert response.json["city"] == "Oslo"
    assert ask(api, scope, "north", "DELETE", "/profiles", 200).json["city"] == "Oslo"
    assert ask(api, scope, "north", "POST", "/profiles", 200, json=ADA).json["city"] is None


def test_path_takes_precedence_over_the_header(olga: Person, sven: Person) -> None:
    api = sven.api()
    south = {"X-Workspace": "south"}
    assert api.get(f"/north/profiles/{olga.id}", 403, headers=south).detail == OUTSIDE
    assert api.get("/north/profiles", 403, headers=south).detail == OUTSIDE
    north = {"X-Workspace": "north"}
    assert api.get(f"/south/profiles/{sven.id}", headers=north).json["first_name"] == "sven"
    assert api.get(f"/south/profiles/{olga.id}", 404, headers=north).detail == "Profile not found"
    assert api.get("/south/profiles", headers={"X-Workspace": ""}).json["first_name"] == "sven"


@for_each("value", ["", " "])
def test_empty_header_is_no_workspace(olga: Person, value: str) -> None:
    response = olga.api().get("/profiles", 404, headers={"X-Workspace": value})
    assert response.detail == "No workspace specified."


@for_each("slug", ["NORTH", "no%00rth", "x" * 300, "%2e%2e", "profiles", "admin"])
def test_impossible_slug_is_not_found(olga: Person, slug: str) -> None:
    assert olga.api().get(f"/{slug}/profiles", 404).detail == "Workspace not found"


@by_path_and_header
def test_current_workspace_is_read_from_the_account_and_not_the_token(
    olga: Person, sven: Person, scope: str
) -> None:
    olga.api().post("/workspaces/north/members", json={"email": sven.email})
    api = sven.api()
    path = f"/profiles/{olga.id}"
    assert ask(api, scope, "current", "GET", path, 404).detail == "Profile not found"
    api.put("/workspaces/current", json={"slug": "north"})
    assert ask(api, scope, "current", "GET", path, 200).json["first_name"] == "olga"
    olga.api().delete(f"/workspaces/north/members/{sven.id}")
    assert ask(api, scope, "current", "GET", path, 403).detail == OUTSIDE


@by_path_and_header
def test_former_member_is_not_found(olga: Person, sven: Person, scope: str) -> None:
    owner_api = olga.api()
    owner_api.post("/workspaces/north/members", json={"email": sven.email})
    path = f"/profiles/{sven.id}"
    assert ask(owner_api, scope, "north", "GET", path, 200).json["first_name"] == "sven"
    sven.api().delete(f"/workspaces/north/members/{sven.id}")
    assert ask(owner_api, scope, "north", "GET", path, 404).detail == "Profile not found"


@by_path_and_header
def test_unknown_ids_are_not_found(olga: Person, scope: str) -> None:
    for account_id in (0, -1, 999, 2**63, BEYOND):
        response = ask(olga.api(), scope, "north", "GET", f"/profiles/{account_id}", 404)
        assert response.detail == "Profile not found"
