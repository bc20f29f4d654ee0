"""Workspaces: creating, listing, switching, and the login response."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest
from flask import Flask
from sqlalchemy import delete, select

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.testing.client import Answer, Api
from app.workspaces.errors import NoWorkspace, WorkspaceNotFound
from app.workspaces.lookup import find_access
from app.workspaces.models import Member, Workspace
from app.workspaces.service import Workspaces
from app.workspaces.slugs import RESERVED, slug_error, suggest_slugs

from ..auth.test_login import log_in
from ..conftest import SECRET, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently


def slugs(api: Api) -> list[str]:
    return [workspace["slug"] for workspace in api.get("/workspaces").json]


def delete_directly(app: Flask, slug: str) -> None:
    """Delete a workspace in the database directly."""
    with app.app_context():
        current_frontdesk.session.execute(delete(Workspace).where(Workspace.slug == slug))
        current_frontdesk.session.commit()


def test_new_account_has_its_own_workspace(ada: Person) -> None:
    api = ada.api()
    [workspace] = api.get("/workspaces").json
    assert workspace["slug"] == workspace["name"] == "ada"
    assert workspace["is_default"] is True
    assert (workspace["type"], workspace["status"]) == ("owner", "active")
    assert set(workspace) == {"id", "slug", "name", "is_default", "created_at", "type", "status"}
    assert api.get("/account").json["current_workspace_id"] == workspace["id"]


def test_default_workspace_is_created_in_the_accounts_transaction(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("failed")

    monkeypatch.setattr(Workspaces, "_add_owner", fail)
    with app.app_context():
        with pytest.raises(RuntimeError):
            service(Accounts).create("ada@example.com", "correct horse battery")
        assert service(Accounts).find("ada@example.com") is None
        assert current_frontdesk.session.scalars(select(Workspace)).all() == []


def test_accounts_with_the_same_name_get_different_slugs(person: MakePerson, app: Flask) -> None:
    person("sam")
    with app.app_context():
        for domain in ("one", "two"):
            service(Accounts).create(f"sam@{domain}.example", None)
        found = current_frontdesk.session.scalars(
            select(Workspace.slug).order_by(Workspace.id)
        ).all()
    assert found == ["sam", "sam-2", "sam-3"]


def test_accounts_with_the_same_name_can_register_concurrently(app: Flask) -> None:
    def register(number: int) -> None:
        with app.app_context():
            service(Accounts).create(f"sam@{number}.example", None)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(register, range(6)))
    with app.app_context():
        found = current_frontdesk.session.scalars(select(Workspace.slug)).all()
    assert len(set(found)) == 6


@for_each("name", ["admin", "x", "current", "-", "_"])
def test_unusable_name_still_makes_a_valid_slug(person: MakePerson, name: str) -> None:
    [slug] = slugs(person(name).api())
    assert slug_error(slug) is None


def test_creator_is_the_owner(ada: Person) -> None:
    api = ada.api()
    workspace = api.post("/workspaces", json={"name": "Gardeners", "slug": "garden-42"}).json
    assert (workspace["name"], workspace["slug"]) == ("Gardeners", "garden-42")
    assert (workspace["type"], workspace["status"]) == ("owner", "active")
    assert workspace["is_default"] is False
    assert slugs(api) == ["ada", "garden-42"]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Gardeners", "gardeners"),
        ("Crème & Brûlée!", "creme-brulee"),
        ("  spaced  out ", "spaced-out"),
        ("園芸", "team"),
        ("Default", "default-2"),
        ("x" * 200, "x" * 53),
    ],
)
def test_slug_defaults_to_the_name(ada: Person, name: str, slug: str) -> None:
    assert ada.api().post("/workspaces", json={"name": name}).json["slug"] == slug


def test_slug_suggestions_are_endless_and_valid() -> None:
    generated = suggest_slugs("admin")
    found = [next(generated) for _ in range(50)]
    assert len(set(found)) == 50
    assert all(slug_error(slug) is None for slug in found)


@for_each(
    "slug",
    ["", "a", "a" * 64, "Garden", "gar_den", "gärden", "gar den", "a/b", "a\n", "٣٣", "a\0b"],
)
def test_malformed_slug_is_rejected(ada: Person, slug: str) -> None:
    response = ada.api().post("/workspaces", 422, json={"name": "Garden", "slug": slug})
    assert response.faults == ["json:slug"]


@for_each("slug", ["current", "default", "admin", "profiles", "tasks", "idp"])
def test_reserved_slug_is_rejected(ada: Person, slug: str) -> None:
    response = ada.api().post("/workspaces", 422, json={"name": "Garden", "slug": slug})
    assert response.json["errors"][0]["message"] == "This slug is reserved."


def test_paths_of_the_api_are_reserved_slugs(app: Flask) -> None:
    first_segments = {
        rule.rule.removeprefix("/api/v1/").partition("/")[0] for rule in app.url_map.iter_rules()
    }
    available = {segment for segment in first_segments if slug_error(segment) is None}
    assert available == set(), available
    assert {"current", "default"} <= RESERVED


@pytest.mark.parametrize("slug", ["aa", "a" * 63, "42", "-a-", "garden--2"])
def test_every_valid_slug_is_accepted(ada: Person, slug: str) -> None:
    assert ada.api().post("/workspaces", json={"name": "Garden", "slug": slug}).json["slug"] == slug


@for_each(
    ("body", "faults"),
    [
        ({}, ["json:name"]),
        ({"name": None}, ["json:name"]),
        ({"name": " "}, ["json:name"]),
        ({"name": "x" * 201}, ["json:name"]),
        ({"name": "a\0b"}, ["json:name"]),
        ({"name": 7, "slug": 7}, ["json:name", "json:slug"]),
    ],
)
def test_workspace_needs_a_name(ada: Person, body: dict[str, Any], faults: list[str]) -> None:
    assert ada.api().post("/workspaces", 422, json=body).faults == faults
    assert slugs(ada.api()) == ["ada"]


def test_read_only_properties_are_ignored(ada: Person) -> None:
    body = {"name": "Garden", "id": 999, "is_default": True, "is_personal": True, "type": "guest"}
    workspace = ada.api().post("/workspaces", json=body).json
    assert workspace["id"] != 999
    assert (workspace["is_default"], workspace["type"]) == (False, "owner")


def test_taken_slug_is_rejected(ada: Person, person: MakePerson) -> None:
    ada.api().post("/workspaces", json={"name": "Garden", "slug": "garden"})
    response = person("bob").api().post("/workspaces", 409, json={"name": "G", "slug": "garden"})
    assert response.detail == "A workspace with this slug already exists"


def test_concurrent_creations_with_one_slug_succeed_once(ada: Person) -> None:
    api = ada.api()
    take = request(api, "POST", "/workspaces", json={"name": "Garden", "slug": "garden"})
    assert run_concurrently(*[take] * 8) == [200] + [409] * 7
    assert slugs(api) == ["ada", "garden"]


def test_concurrent_creations_with_one_name_get_different_slugs(ada: Person) -> None:
    api = ada.api()
    make = request(api, "POST", "/workspaces", json={"name": "Garden"})
    assert run_concurrently(*[make] * 6) == [200] * 6
    assert len(set(slugs(api))) == 7


def test_list_has_only_the_callers_workspaces(ada: Person, person: MakePerson) -> None:
    bob = person("bob").api()
    bob.post("/workspaces", json={"name": "Secret"})
    assert slugs(ada.api()) == ["ada"]


def test_list_is_paginated(ada: Person) -> None:
    api = ada.api()
    for number in range(4):
        api.post("/workspaces", json={"name": f"Garden {number}"})
    page = api.get("/workspaces?offset=1&limit=2").json
    assert [workspace["slug"] for workspace in page] == ["garden-0", "garden-1"]
    assert api.get("/workspaces?limit=0", 422).faults == ["query:limit"]


def test_collections_work_with_and_without_trailing_slash(ada: Person) -> None:
    api = ada.api()
    assert api.get("/workspaces/").json == api.get("/workspaces").json
    assert api.get("/workspaces/ada/members/").json == api.get("/workspaces/ada/members").json


def test_switching_changes_the_current_workspace(ada: Person) -> None:
    api = ada.api()
    garden = api.post("/workspaces", json={"name": "Garden"}).json
    assert api.get("/workspaces/current").json["slug"] == "ada"
    assert api.put("/workspaces/current", json={"slug": "garden"}).json == garden
    assert api.get("/workspaces/current").json == garden
    assert api.get("/account").json["current_workspace_id"] == garden["id"]


def test_switching_requires_an_active_membership(ada: Person, person: MakePerson) -> None:
    bob = person("bob")
    api, bobs = ada.api(), bob.api()
    response = api.put("/workspaces/current", 403, json={"slug": "bob"})
    assert response.detail == "User not found in specified workspace"
    bobs.post("/workspaces/bob/members", json={"email": ada.email, "status": "suspended"})
    response = api.put("/workspaces/current", 401, json={"slug": "bob"})
    assert response.detail == "User is not active"
    response = api.put("/workspaces/current", 404, json={"slug": "nowhere"})
    assert response.detail == "Workspace not found"
    assert api.put("/workspaces/current", 422, json={}).faults == ["json:slug"]
    assert api.get("/workspaces/current").json["slug"] == "ada"


def test_switching_to_current_and_default(ada: Person) -> None:
    api = ada.api()
    api.post("/workspaces", json={"name": "Garden"})
    api.put("/workspaces/current", json={"slug": "garden"})
    assert api.put("/workspaces/current", json={"slug": "current"}).json["slug"] == "garden"
    assert api.put("/workspaces/current", json={"slug": "default"}).json["slug"] == "ada"
    assert api.get("/workspaces/current").json["slug"] == "ada"


def test_workspace_left_by_the_account_stays_current_and_inaccessible(
    ada: Person, person: MakePerson
) -> None:
    bob = person("bob")
    bobs, api = bob.api(), ada.api()
    bobs.post("/workspaces/bob/members", json={"email": ada.email})
    former = api.put("/workspaces/current", json={"slug": "bob"}).json
    bobs.delete(f"/workspaces/bob/members/{ada.id}")
    response = api.get("/workspaces/current", 403)
    assert response.detail == "User not found in specified workspace"
    assert api.get("/account").json["current_workspace_id"] == former["id"]
    assert ada.api().get("/workspaces/current").json["slug"] == "ada"


def test_workspace_deleted_between_requests_is_not_found(app: Flask, ada: Person) -> None:
    api = ada.api()
    api.post("/workspaces", json={"name": "Garden"})
    api.put("/workspaces/current", json={"slug": "garden"})
    delete_directly(app, "garden")
    for path in ("current", "garden", "garden/members", "current/members"):
        assert api.get(f"/workspaces/{path}", 404).detail == "Workspace not found"
    assert slugs(api) == ["ada"]
    assert ada.api().get("/workspaces/current").json["slug"] == "ada"


def test_id_of_a_deleted_workspace_is_not_reused(app: Flask, ada: Person) -> None:
    api = ada.api()
    first = api.post("/workspaces", json={"name": "Garden"}).json["id"]
    delete_directly(app, "garden")
    assert api.post("/workspaces", json={"name": "Garden"}).json["id"] > first


def login(person: Person) -> Answer:
    return log_in(Api(person.app), person.email, person.password)


def test_login_response_has_the_workspaces(ada: Person) -> None:
    response = login(ada).json
    [workspace] = response["workspaces"]
    assert workspace["slug"] == "ada"
    assert response["current_workspace_id"] == workspace["id"]
    assert response["account"]["current_workspace_id"] == workspace["id"]
    user = response["user"]
    assert (user["account_id"], user["workspace_id"]) == (ada.id, workspace["id"])
    assert (user["type"], user["status"]) == ("owner", "active")
    claims = jwt.decode(response["access_token"], SECRET, algorithms=["HS256"])
    assert (claims["user_id"], claims["workspace_id"]) == (user["id"], workspace["id"])


def test_login_keeps_the_current_workspace(ada: Person) -> None:
    api = ada.api()
    garden = api.post("/workspaces", json={"name": "Garden"}).json
    api.put("/workspaces/current", json={"slug": "garden"})
    response = login(ada).json
    assert response["current_workspace_id"] == garden["id"] == response["user"]["workspace_id"]
    assert [workspace["slug"] for workspace in response["workspaces"]] == ["ada", "garden"]


@pytest.mark.parametrize("stored", [None, 999])
def test_login_replaces_a_missing_current_workspace_with_the_first(
    app: Flask, ada: Person, stored: int | None
) -> None:
    with app.app_context():
        account = service(Accounts).get(ada.email)
        account.current_workspace_id = stored
        current_frontdesk.session.commit()
    response = login(ada).json
    own = response["workspaces"][0]["id"]
    assert response["current_workspace_id"] == own == response["account"]["current_workspace_id"]
    assert ada.api().get("/account").json["current_workspace_id"] == own


def test_account_without_workspace_can_sign_in(app: Flask, ada: Person) -> None:
    delete_directly(app, "ada")
    response = login(ada).json
    assert (response["user"], response["workspaces"]) == (None, [])
    assert response["current_workspace_id"] is None
    claims = jwt.decode(response["access_token"], SECRET, algorithms=["HS256"])
    assert (claims["user_id"], claims["workspace_id"]) == (None, None)


def resolved(app: Flask, slug: str, person: Person | None) -> str:
    with app.app_context():
        account = service(Accounts).get(person.email) if person else None
        return find_access(current_frontdesk.session, slug, account).workspace.slug


def test_own_default_takes_precedence_over_the_common_default(
    app: Flask, person: MakePerson
) -> None:
    bob, ada = person("bob"), person("ada")
    bobs, members = bob.api(), "/workspaces/bob/members"
    bobs.post(members, json={"email": ada.email, "type": "owner"})
    with app.app_context():
        service(Workspaces).create_common("Everyone", "everyone", is_default=True)
    assert resolved(app, "default", ada) == "ada"
    assert resolved(app, "default", bob) == "bob"
    assert resolved(app, "default", None) == "everyone"
    bobs.patch(f"{members}/{ada.id}", json={"type": "member"})
    delete_directly(app, "ada")
    assert resolved(app, "default", ada) == "everyone"


def test_own_workspace_is_not_the_default_of_anonymous_callers(app: Flask, ada: Person) -> None:
    with app.app_context(), pytest.raises(WorkspaceNotFound):
        find_access(current_frontdesk.session, "default", None)


def test_there_is_one_common_default(app: Flask, ada: Person) -> None:
    with app.app_context():
        for slug in ("first", "second"):
            service(Workspaces).create_common(slug, slug, is_default=True)
        service(Workspaces).create_common("third", "third")
    assert resolved(app, "default", None) == "second"
    assert resolved(app, "default", ada) == "ada"


def test_anonymous_caller_has_no_current_workspace(app: Flask) -> None:
    with app.app_context(), pytest.raises(NoWorkspace):
        find_access(current_frontdesk.session, "current", None)


def test_deleting_an_account_deletes_memberships_and_its_own_workspace(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    bob = person("bob")
    bob.api().post("/workspaces/bob/members", json={"email": ada.email})
    ada.api().post("/workspaces", json={"name": "Shared"})
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(ada.email))
        session = current_frontdesk.session
        assert set(session.scalars(select(Member.account_id))) == {bob.id}
        assert set(session.scalars(select(Workspace.slug))) == {"bob", "shared"}


def test_own_workspace_with_other_members_outlives_its_account(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    bob = person("bob")
    ada.api().post("/workspaces/ada/members", json={"email": bob.email})
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(ada.email))
    assert slugs(bob.api()) == ["bob", "ada"]


@for_each(
    ("method", "path"),
    [
        ("GET", "/workspaces"),
        ("POST", "/workspaces"),
        ("PUT", "/workspaces/current"),
        ("GET", "/workspaces/ada"),
        ("GET", "/workspaces/ada/members"),
        ("POST", "/workspaces/ada/members"),
        ("PATCH", "/workspaces/ada/members/1"),
        ("DELETE", "/workspaces/ada/members/1"),
    ],
)
def test_every_route_requires_an_active_account(ada: Person, method: str, path: str) -> None:
    anonymous = Api(ada.app).send(method, path, 401, data="not json")
    assert anonymous.detail == "Could not validate credentials"
    api = ada.api()
    ada.change(status="inactive")
    assert api.send(method, path, 401, data="not json").detail == "The account is inactive"
    ada.change(status="active")
