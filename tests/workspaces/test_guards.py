"""The five decorators, the resolvers, and what they tell the OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask

from app import (
    HeaderResolver,
    PathResolver,
    account_optional,
    active_account_required,
    active_member_required,
    current_frontdesk,
    current_member,
    current_workspace,
    member_required,
    workspace_anonymous,
    workspace_required,
    workspace_roles_required,
)
from app.core.context import service
from app.core.web.operation import View
from app.testing.client import Api
from app.testing.database import noted_queries
from app.workspaces.service import Workspaces

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each, newly


def where(**_path: Any) -> dict[str, Any]:
    return {
        "workspace": current_workspace.slug if current_workspace else None,
        "type": current_member.type if current_member else None,
    }


def by_query(
    session: Any, account: Any, path_params: Mapping[str, Any], headers: Mapping[str, str]
) -> str | None:
    """A host's own way: by a word that stands for a workspace, for those it knows."""
    assert all(name == name.lower() for name in headers)
    assert session is not None
    words = {"home": account.email.partition("@")[0] if account else None, "team": "team"}
    return words.get(path_params.get("word", "") or headers.get("x-word", ""))


def _active_admins(view: View) -> View:
    return active_member_required(workspace_roles_required("owner", "admin")(view))


def _two_resolvers(view: View) -> View:
    return active_member_required(member_required(resolver=HeaderResolver())(view))


BY_PATH = {
    "workspace": workspace_required,
    "anonymous": workspace_anonymous,
    "member": member_required,
    "active": active_member_required,
    "managers": workspace_roles_required("owner", "admin"),
    "active-managers": _active_admins,
    "two": _two_resolvers,
}
HEADER = HeaderResolver()
OTHER_HEADER = HeaderResolver("X-Room", "The room's name")


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(WORKSPACES__ADDING="direct")
    for name, guard in BY_PATH.items():
        app.add_url_rule(f"/api/v1/rooms/<workspace_slug>/{name}", name, guard(where))
    others: dict[str, View] = {
        "/head": member_required(resolver=HEADER)(where),
        "/room": member_required(resolver=OTHER_HEADER)(where),
        "/by-name/<room>": member_required(resolver=PathResolver("room"))(where),
        "/custom/<word>": member_required(resolver=by_query)(where),
        "/custom": workspace_anonymous(resolver=by_query)(where),
        "/bare": member_required(where),
        "/optional/<workspace_slug>": account_optional(workspace_anonymous(where)),
    }
    for path, view in others.items():
        app.add_url_rule(f"/api/v1{path}", path, view)
    return app


@pytest.fixture
def olga(person: MakePerson) -> Person:
    olga = person("olga")
    olga.api().post("/workspaces", json={"name": "Team", "slug": "team"})
    return olga


NO_TOKEN = (401, "Could not validate credentials")
NO_MEMBER = (403, "User not found in specified workspace")
NOT_ACTIVE = (401, "User is not active")
NOT_ALLOWED = (403, "Not authorized")
PASSES = (200, "")

# Membership (type and status, or none at all), guard, what is answered.
TABLE = [
    (None, "workspace", PASSES),
    (None, "anonymous", PASSES),
    (None, "member", NO_MEMBER),
    (None, "active", NO_MEMBER),
    (None, "managers", NO_MEMBER),
    (("guest", "active"), "member", PASSES),
    (("guest", "invited"), "member", PASSES),
    (("guest", "active"), "active", PASSES),
    (("owner", "invited"), "active", NOT_ACTIVE),
    (("owner", "Active"), "active", NOT_ACTIVE),
    (("admin", "active"), "managers", PASSES),
    (("admin", "invited"), "managers", PASSES),
    (("member", "active"), "managers", NOT_ALLOWED),
    (("guest", "active"), "managers", NOT_ALLOWED),
    (("admin", "active"), "active-managers", PASSES),
    (("admin", "invited"), "active-managers", NOT_ACTIVE),
    (("member", "active"), "active-managers", NOT_ALLOWED),
]


@for_each(("membership", "guard", "expected"), TABLE)
def test_who_may_enter(
    olga: Person,
    person: MakePerson,
    membership: tuple[str, str] | None,
    guard: str,
    expected: tuple[int, str],
) -> None:
    ada = person(newly("ada"))
    if membership:
        body = {"email": ada.email, "type": membership[0], "status": membership[1]}
        olga.api().post("/workspaces/team/members", json=body)
    status, text = expected
    answer = ada.api().get(f"/rooms/team/{guard}", status)
    assert status == 200 or answer.detail == text
    if status == 200:
        known = membership[0] if membership and guard != "anonymous" else None
        assert answer.json == {"workspace": "team", "type": known}


@for_each("guard", [name for name in BY_PATH if name != "anonymous"])
def test_all_but_the_anonymous_guard_ask_for_a_token_first(
    app: Flask, olga: Person, guard: str
) -> None:
    for slug in ("team", "nowhere", "current"):
        answer = Api(app).get(f"/rooms/{slug}/{guard}", 401)
        assert answer.detail == "Could not validate credentials"


def test_the_anonymous_guard_asks_for_no_token_and_reads_none(app: Flask, olga: Person) -> None:
    for token in (None, "a.b.c"):
        api = Api(app, token=token)
        assert api.get("/rooms/team/anonymous").json == {"workspace": "team", "type": None}
        assert api.get("/rooms/nowhere/anonymous", 404).detail == "Workspace not found"
        assert api.get("/rooms/current/anonymous", 404).detail == "No workspace specified."


def test_the_anonymous_guard_under_an_optional_account_knows_who_comes(
    app: Flask, olga: Person
) -> None:
    assert olga.api().get("/optional/current").json == {"workspace": "olga", "type": "owner"}
    Api(app).get("/optional/current", 404)


UNKNOWN = ["nowhere", "TEAM", "te%00am", "t", "x" * 300, "%F0%9F%8C%B1", "te%20am", "team%0A"]


@for_each("guard", BY_PATH)
def test_an_unknown_slug_is_not_found(olga: Person, guard: str) -> None:
    api = olga.api()
    for slug in UNKNOWN:
        assert api.get(f"/rooms/{slug}/{guard}", 404).detail == "Workspace not found"


def test_current_and_default_are_the_accounts_own(olga: Person, ada: Person) -> None:
    api = olga.api()
    api.put("/workspaces/current", json={"slug": "team"})
    assert api.get("/rooms/current/member").json["workspace"] == "team"
    assert api.get("/rooms/default/member").json["workspace"] == "olga"
    assert ada.api().get("/rooms/current/member").json["workspace"] == "ada"
    assert ada.api().get("/rooms/default/member").json["workspace"] == "ada"


def test_the_token_does_not_decide_which_workspace_is_current(olga: Person) -> None:
    api = olga.api()
    api.put("/workspaces/current", json={"slug": "team"})
    assert api.get("/rooms/current/member").json["workspace"] == "team"


def test_the_header_names_the_workspace(olga: Person) -> None:
    api = olga.api()
    assert api.get("/head", headers={"x-workspace": "team"}).json["workspace"] == "team"
    assert api.get("/head", 404).detail == "No workspace specified."
    assert api.get("/head", 404, headers={"X-Workspace": ""}).detail == "No workspace specified."
    for value in ("nowhere", "team,olga", "a\tb"):
        answer = api.get("/head", 404, headers={"X-Workspace": value})
        assert answer.detail == "Workspace not found"


def test_header_and_path_parameter_may_have_other_names(olga: Person) -> None:
    api = olga.api()
    assert api.get("/room", headers={"X-Room": "team"}).json["workspace"] == "team"
    assert api.get("/room", 404, headers={"X-Workspace": "team"}).detail == (
        "No workspace specified."
    )
    assert api.get("/by-name/team").json["workspace"] == "team"


def test_a_guard_by_path_passes_the_header_over(olga: Person, ada: Person) -> None:
    answer = ada.api().get("/rooms/team/active", 403, headers={"X-Workspace": "ada"})
    assert answer.detail == "User not found in specified workspace"
    assert ada.api().get("/rooms/ada/active", headers={"X-Workspace": "team"}).json == {
        "workspace": "ada",
        "type": "owner",
    }


def test_a_custom_resolver_receives_what_it_needs(app: Flask, olga: Person, ada: Person) -> None:
    assert olga.api().get("/custom/home").json["workspace"] == "olga"
    assert ada.api().get("/custom/home").json["workspace"] == "ada"
    assert ada.api().get("/custom/team", 403).detail == "User not found in specified workspace"
    assert ada.api().get("/custom/other", 404).detail == "No workspace specified."
    assert Api(app).get("/custom", headers={"X-Word": "team"}).json["workspace"] == "team"


def test_a_host_may_set_the_resolver_of_bare_guards(app: Flask, olga: Person) -> None:
    api = olga.api()
    assert api.get("/bare", 404).detail == "No workspace specified."
    with app.app_context():
        current_frontdesk.hooks.add("workspace_resolver", HeaderResolver("X-Team"))
    assert api.get("/bare", headers={"X-Team": "team"}).json["workspace"] == "team"
    assert api.get("/workspaces/team").json["slug"] == "team"


def test_stacked_guards_of_two_resolvers_ask_each(olga: Person, ada: Person) -> None:
    api = ada.api()
    assert api.get("/rooms/ada/two", headers={"X-Workspace": "ada"}).json["workspace"] == "ada"
    api.get("/rooms/ada/two", 403, headers={"X-Workspace": "team"})
    api.get("/rooms/team/two", 403, headers={"X-Workspace": "ada"})


def test_stacked_guards_of_one_resolver_ask_once(app: Flask, olga: Person) -> None:
    api = olga.api()
    with noted_queries(app) as statements:
        api.get("/rooms/team/active-managers")
    assert len(statements) == 2, statements


def test_each_request_is_resolved_anew(app: Flask, olga: Person, ada: Person) -> None:
    api, boss = ada.api(), olga.api()
    api.get("/rooms/team/member", 403)
    boss.post("/workspaces/team/members", json={"email": ada.email})
    assert api.get("/rooms/team/active").json["type"] == "member"
    boss.patch(f"/workspaces/team/members/{ada.id}", json={"status": "left"})
    api.get("/rooms/team/active", 401)


def test_default_without_a_token_is_the_common_one(app: Flask, olga: Person) -> None:
    assert Api(app).get("/rooms/default/anonymous", 404).detail == "Workspace not found"
    with app.app_context():
        service(Workspaces).create_common("Everyone", "everyone", is_default=True)
    assert Api(app).get("/rooms/default/anonymous").json["workspace"] == "everyone"


def test_the_document_shows_header_path_bearer_and_problems(app: Flask) -> None:
    paths = Api(app).get("/openapi.json").json["paths"]
    header = paths["/api/v1/head"]["get"]
    assert {"name": "X-Workspace", "in": "header", "required": False}.items() <= (
        header["parameters"][0].items()
    )
    room = paths["/api/v1/room"]["get"]["parameters"][0]
    assert (room["name"], room["description"]) == ("X-Room", "The room's name")
    member = paths["/api/v1/rooms/{workspace_slug}/active-managers"]["get"]
    assert [parameter["in"] for parameter in member["parameters"]] == ["path"]
    assert member["security"] == [{"bearer": []}, {"login": []}]
    assert {"401", "403", "404"} <= set(member["responses"])
    anonymous = paths["/api/v1/rooms/{workspace_slug}/anonymous"]["get"]
    assert anonymous["security"] == []
    assert "401" not in anonymous["responses"]


def test_with_and_without_an_account_above(app: Flask, ada: Person) -> None:
    """The guards stack with those of accounts, in any order."""
    stacked = active_account_required(active_member_required(where))
    app.add_url_rule("/api/v1/stacked/<workspace_slug>", "stacked", stacked)
    api = ada.api()
    assert api.get("/stacked/ada").json["type"] == "owner"
    ada.change(status="inactive")
    assert api.get("/stacked/ada", 401).detail == "The account is inactive"
    assert api.get("/rooms/ada/active").json["type"] == "owner"


@pytest.mark.parametrize("written", [active_member_required, active_member_required()])
def test_a_view_may_be_async_bare_and_with_parentheses(
    app: Flask, ada: Person, written: Any
) -> None:
    async def wait(**path: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return where()

    app.add_url_rule("/api/v1/waiting/<workspace_slug>", view_func=written(wait))
    assert ada.api().get("/waiting/ada").json == {"workspace": "ada", "type": "owner"}
    assert Api(app).get("/waiting/ada", 401)
