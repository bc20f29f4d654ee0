"""Profiles within a workspace: whichever way it is carried, members of two never meet."""

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
    api: Api, carried: str, slug: str, method: str, path: str, status: int, **body: Any
) -> Answer:
    if carried == "path":
        return api.send(method, f"/{slug}{path}", status, **body)
    return api.send(method, path, status, headers={"X-Workspace": slug}, **body)


@pytest.fixture
def suspended(olga: Person, sven: Person) -> Person:
    """Sven, an owner of Olga's workspace who is not active there."""
    body = {"email": sven.email, "type": "owner", "status": "suspended"}
    olga.api().post("/workspaces/north/members", json=body)
    return sven


carried_both_ways = pytest.mark.parametrize("carried", ["path", "header"])


@carried_both_ways
def test_within_a_workspace_members_see_each_other(
    olga: Person, sven: Person, carried: str
) -> None:
    boss = olga.api()
    boss.post("/workspaces/north/members", json={"email": sven.email, "type": "guest"})
    guest = sven.api()
    answer = ask(guest, carried, "north", "GET", f"/profiles/{olga.id}", 200)
    assert answer.json["first_name"] == "olga"
    answer = ask(boss, carried, "north", "GET", f"/profiles/{sven.id}", 200)
    assert answer.json["first_name"] == "sven"


@carried_both_ways
def test_members_of_two_workspaces_never_see_each_other(
    olga: Person, sven: Person, carried: str
) -> None:
    for one, own, other, others in (
        (olga, "north", sven, "south"),
        (sven, "south", olga, "north"),
    ):
        api = one.api()
        inside = ask(api, carried, own, "GET", f"/profiles/{other.id}", 404)
        assert inside.detail == "Profile not found"
        outside = ask(api, carried, others, "GET", f"/profiles/{other.id}", 403)
        assert outside.detail == OUTSIDE


@carried_both_ways
def test_an_admin_changes_members_profiles_only(
    olga: Person, sven: Person, person: MakePerson, carried: str
) -> None:
    admin = person("admin", role="admin")
    api = admin.api()
    answer = ask(api, carried, "north", "PUT", f"/profiles/{olga.id}", 403, json={})
    assert answer.detail == OUTSIDE
    olga.api().post("/workspaces/north/members", json={"email": admin.email})
    body = {"city": "Oslo"}
    answer = ask(api, carried, "north", "PUT", f"/profiles/{olga.id}", 200, json=body)
    assert answer.json["city"] == "Oslo"
    answer = ask(api, carried, "north", "PUT", f"/profiles/{sven.id}", 404, json=body)
    assert answer.detail == "Profile not found"
    assert sven.api().get("/profiles").json["city"] is None


@carried_both_ways
@for_each(("method", "path"), ROUTES)
def test_who_is_not_in_it_is_refused_before_anything_is_read(
    olga: Person, sven: Person, carried: str, method: str, path: str
) -> None:
    api = sven.api()
    answer = ask(api, carried, "north", method, path, 403, data="not json")
    assert answer.detail == OUTSIDE
    answer = ask(api, carried, "nowhere", method, path, 404, data="not json")
    assert answer.detail == "Workspace not found"
    assert sven.api().get("/profiles").json["first_name"] == "sven"


@carried_both_ways
@for_each(("method", "path"), ROUTES)
def test_a_membership_that_is_not_active_opens_nothing(
    suspended: Person, carried: str, method: str, path: str
) -> None:
    answer = ask(suspended.api(), carried, "north", method, path, 401, data="not json")
    assert answer.detail == "User is not active"


@carried_both_ways
def test_ones_own_profile_is_the_same_in_every_workspace(olga: Person, carried: str) -> None:
    api = olga.api()
    own = api.get("/profiles").json
    for slug in ("north", "olga", "current", "default"):
        assert ask(api, carried, slug, "GET", "/profiles", 200).json == own
        assert ask(api, carried, slug, "GET", f"/profiles/{olga.id}", 200).json == own
    answer = ask(api, carried, "north", "PUT", "/profiles", 200, json={"city": "Oslo"})
    assert answer.json["city"] == "Oslo"
    assert ask(api, carried, "north", "DELETE", "/profiles", 200).json["city"] == "Oslo"
    assert ask(api, carried, "north", "POST", "/profiles", 200, json=ADA).json["city"] is None


def test_where_path_and_header_disagree_the_path_counts(olga: Person, sven: Person) -> None:
    api = sven.api()
    south = {"X-Workspace": "south"}
    assert api.get(f"/north/profiles/{olga.id}", 403, headers=south).detail == OUTSIDE
    assert api.get("/north/profiles", 403, headers=south).detail == OUTSIDE
    north = {"X-Workspace": "north"}
    assert api.get(f"/south/profiles/{sven.id}", headers=north).json["first_name"] == "sven"
    assert api.get(f"/south/profiles/{olga.id}", 404, headers=north).detail == "Profile not found"
    assert api.get("/south/profiles", headers={"X-Workspace": ""}).json["first_name"] == "sven"


@for_each("value", ["", " "])
def test_an_empty_header_scopes_to_nothing(olga: Person, value: str) -> None:
    answer = olga.api().get("/profiles", 404, headers={"X-Workspace": value})
    assert answer.detail == "No workspace specified."


@for_each("slug", ["NORTH", "no%00rth", "x" * 300, "%2e%2e", "profiles", "admin"])
def test_a_slug_that_cannot_be_is_not_found(olga: Person, slug: str) -> None:
    assert olga.api().get(f"/{slug}/profiles", 404).detail == "Workspace not found"


@carried_both_ways
def test_current_follows_the_account_and_not_the_token(
    olga: Person, sven: Person, carried: str
) -> None:
    olga.api().post("/workspaces/north/members", json={"email": sven.email})
    api = sven.api()
    path = f"/profiles/{olga.id}"
    assert ask(api, carried, "current", "GET", path, 404).detail == "Profile not found"
    api.put("/workspaces/current", json={"slug": "north"})
    assert ask(api, carried, "current", "GET", path, 200).json["first_name"] == "olga"
    olga.api().delete(f"/workspaces/north/members/{sven.id}")
    assert ask(api, carried, "current", "GET", path, 403).detail == OUTSIDE


@carried_both_ways
def test_who_left_is_not_found_any_more(olga: Person, sven: Person, carried: str) -> None:
    boss = olga.api()
    boss.post("/workspaces/north/members", json={"email": sven.email})
    path = f"/profiles/{sven.id}"
    assert ask(boss, carried, "north", "GET", path, 200).json["first_name"] == "sven"
    sven.api().delete(f"/workspaces/north/members/{sven.id}")
    assert ask(boss, carried, "north", "GET", path, 404).detail == "Profile not found"


@carried_both_ways
def test_ids_that_nobody_has_are_not_found(olga: Person, carried: str) -> None:
    for account_id in (0, -1, 999, 2**63, BEYOND):
        answer = ask(olga.api(), carried, "north", "GET", f"/profiles/{account_id}", 404)
        assert answer.detail == "Profile not found"
