"""The workspace decorators, their resolvers, and what they add to the OpenAPI document."""

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
from ..rigs.cases import for_each, new_name


def show_workspace(**_path: Any) -> dict[str, Any]:
    return {
        "workspace": current_workspace.slug if current_workspace else None,
        "type": current_member.type if current_member else None,
    }


def by_query(
    session: Any, account: Any, path_params: Mapping[str, Any], headers: Mapping[str, str]
) -> str | None:
    """A custom resolver: maps words to workspaces."""
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
OTHER_HEADER = HeaderResolver("X-Team", "The team's name")


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(WORKSPACES__ADDING="direct")
    for name, decorator in BY_PATH.items():
        app.add_url_rule(f"/api/v1/teams/<workspace_slug>/{name}", name, decorator(show_workspace))
    others: dict[str, View] = {
        "/head": member_required(resolver=HEADER)(show_workspace),
        "/team": member_required(resolver=OTHER_HEADER)(show_workspace),
        "/by-name/<slug>": member_required(resolver=PathResolver("slug"))(show_workspace),
        "/custom/<word>": member_required(resolver=by_query)(show_workspace),
        "/custom": workspace_anonymous(resolver=by_query)(show_workspace),
        "/bare": member_required(show_workspace),
        "/optional/<workspace_slug>": account_optional(workspace_anonymous(show_workspace)),
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

# Membership (type and status, or none), decorator, expected response.
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
    (("owner", "active-later"), "active", NOT_ACTIVE),
    (("admin", "active"), "managers", PASSES),
    (("admin", "invited"), "managers", PASSES),
    (("member", "active"), "managers", NOT_ALLOWED),
    (("guest", "active"), "managers", NOT_ALLOWED),
    (("admin", "active"), "active-managers", PASSES),
    (("admin", "invited"), "active-managers", NOT_ACTIVE),
    (("member", "active"), "active-managers", NOT_ALLOWED),
]


@for_each(("membership", "decorator", "expected"), TABLE)
def test_access_by_type_and_status(
    olga: Person,
    person: MakePerson,
    membership: tuple[str, str] | None,
    decorator: str,
    expected: tuple[int, str],
) -> None:
    ada = person(new_name("ada"))
    if membership:
        body = {"email": ada.email, "type": membership[0], "status": membership[1]}
        olga.api().post("/workspaces/team/members", json=body)
    status, text = expected
    response = ada.api().get(f"/teams/team/{decorator}", status)
    assert status == 200 or response.detail == text
    if status == 200:
        expected_type = membership[0] if membership and decorator != "anonymous" else None
        assert response.json == {"workspace": "team", "type": expected_type}


@for_each("decorator", [name for name in BY_PATH if name != "anonymous"])
def test_all_decorators_except_anonymous_require_a_token(
    app: Flask, olga: Person, decorator: str
) -> None:
    for slug in ("team", "nowhere", "current"):
        response = Api(app).get(f"/teams/{slug}/{decorator}", 401)
        assert response.detail == "Could not validate credentials"


def test_anonymous_decorator_ignores_tokens(app: Flask, olga: Person) -> None:
    for token in (None, "a.b.c"):
        api = Api(app, token=token)
        assert api.get("/teams/team/anonymous").json == {"workspace": "team", "type": None}
        assert api.get("/teams/nowhere/anonymous", 404).detail == "Workspace not found"
        assert api.get("/teams/current/anonymous", 404).detail == "No workspace specified."


def test_anonymous_decorator_with_an_optional_account_knows_the_caller(
    app: Flask, olga: Person
) -> None:
    assert olga.api().get("/optional/current").json == {"workspace": "olga", "type": "owner"}
    Api(app).get("/optional/current", 404)


UNKNOWN = ["nowhere", "TEAM", "te%00am", "t", "x" * 300, "%F0%9F%8C%B1", "te%20am", "team%0A"]


@for_each("decorator", BY_PATH)
def test_unknown_slug_is_not_found(olga: Person, decorator: str) -> None:
    api = olga.api()
    for slug in UNKNOWN:
        assert api.get(f"/teams/{slug}/{decorator}", 404).detail == "Workspace not found"


def test_current_and_default_are_the_accounts_own(olga: Person, ada: Person) -> None:
    api = olga.api()
    api.put("/workspaces/current", json={"slug": "team"})
    assert api.get("/teams/current/member").json["workspace"] == "team"
    assert api.get("/teams/default/member").json["workspace"] == "olga"
    assert ada.api().get("/teams/current/member").json["workspace"] == "ada"
    assert ada.api().get("/teams/default/member").json["workspace"] == "ada"


def test_current_workspace_is_read_from_the_account_and_not_the_token(olga: Person) -> None:
    api = olga.api()
    api.put("/workspaces/current", json={"slug": "team"})
    assert api.get("/teams/current/member").json["workspace"] == "team"


def test_header_names_the_workspace(olga: Person) -> None:
    api = olga.api()
    assert api.get("/head", headers={"x-workspace": "team"}).json["workspace"] == "team"
    assert api.get("/head", 404).detail == "No workspace specified."
    assert api.get("/head", 404, headers={"X-Workspace": ""}).detail == "No workspace specified."
    for value in ("nowhere", "team,olga", "a\tb"):
        response = api.get("/head", 404, headers={"X-Workspace": value})
        assert response.detail == "Workspace not found"


def test_header_and_path_parameter_names_are_configurable(olga: Person) -> None:
    api = olga.api()
    assert api.get("/team", headers={"X-Team": "team"}).json["workspace"] == "team"
    assert api.get("/team", 404, headers={"X-Workspace": "team"}).detail == (
        "No workspace specified."
    )
    assert api.get("/by-name/team").json["workspace"] == "team"


def test_path_decorator_ignores_the_header(olga: Person, ada: Person) -> None:
    response = ada.api().get("/teams/team/active", 403, headers={"X-Workspace": "ada"})
    assert response.detail == "User not found in specified workspace"
    assert ada.api().get("/teams/ada/active", headers={"X-Workspace": "team"}).json == {
        "workspace": "ada",
        "type": "owner",
    }


def test_custom_resolver_receives_account_path_and_headers(
    app: Flask, olga: Person, ada: Person
) -> None:
    assert olga.api().get("/custom/home").json["workspace"] == "olga"
    assert ada.api().get("/custom/home").json["workspace"] == "ada"
    assert ada.api().get("/custom/team", 403).detail == "User not found in specified workspace"
    assert ada.api().get("/custom/other", 404).detail == "No workspace specified."
    assert Api(app).get("/custom", headers={"X-Word": "team"}).json["workspace"] == "team"


def test_application_can_set_the_default_resolver(app: Flask, olga: Person) -> None:
    api = olga.api()
    assert api.get("/bare", 404).detail == "No workspace specified."
    with app.app_context():
        current_frontdesk.hooks.add("workspace_resolver", HeaderResolver("X-Team"))
    assert api.get("/bare", headers={"X-Team": "team"}).json["workspace"] == "team"
    assert api.get("/workspaces/team").json["slug"] == "team"


def test_stacked_decorators_with_two_resolvers_check_both(olga: Person, ada: Person) -> None:
    api = ada.api()
    assert api.get("/teams/ada/two", headers={"X-Workspace": "ada"}).json["workspace"] == "ada"
    api.get("/teams/ada/two", 403, headers={"X-Workspace": "team"})
    api.get("/teams/team/two", 403, headers={"X-Workspace": "ada"})


def test_stacked_decorators_with_one_resolver_query_once(app: Flask, olga: Person) -> None:
    api = olga.api()
    with noted_queries(app) as statements:
        api.get("/teams/team/active-managers")
    assert len(statements) == 2, statements


def test_each_request_is_resolved_again(app: Flask, olga: Person, ada: Person) -> None:
    api, owner = ada.api(), olga.api()
    api.get("/teams/team/member", 403)
    owner.post("/workspaces/team/members", json={"email": ada.email})
    assert api.get("/teams/team/active").json["type"] == "member"
    owner.patch(f"/workspaces/team/members/{ada.id}", json={"status": "left"})
    api.get("/teams/team/active", 401)


def test_default_without_a_token_is_the_common_workspace(app: Flask, olga: Person) -> None:
    assert Api(app).get("/teams/default/anonymous", 404).detail == "Workspace not found"
    with app.app_context():
        service(Workspaces).create_common("Everyone", "everyone", is_default=True)
    assert Api(app).get("/teams/default/anonymous").json["workspace"] == "everyone"


def test_openapi_document_has_header_path_security_and_problems(app: Flask) -> None:
    paths = Api(app).get("/openapi.json").json["paths"]
    header = paths["/api/v1/head"]["get"]
    assert {"name": "X-Workspace", "in": "header", "required": False}.items() <= (
        header["parameters"][0].items()
    )
    team_route = paths["/api/v1/team"]["get"]["parameters"][0]
    assert (team_route["name"], team_route["description"]) == ("X-Team", "The team's name")
    member = paths["/api/v1/teams/{workspace_slug}/active-managers"]["get"]
    assert [parameter["in"] for parameter in member["parameters"]] == ["path"]
    assert member["security"] == [{"bearer": []}, {"login": []}]
    assert {"401", "403", "404"} <= set(member["responses"])
    anonymous = paths["/api/v1/teams/{workspace_slug}/anonymous"]["get"]
    assert anonymous["security"] == []
    assert "401" not in anonymous["responses"]


def test_workspace_and_account_decorators_can_be_stacked(app: Flask, ada: Person) -> None:
    """Account and workspace decorators stack in any order."""
    stacked = active_account_required(active_member_required(show_workspace))
    app.add_url_rule("/api/v1/stacked/<workspace_slug>", "stacked", stacked)
    api = ada.api()
    assert api.get("/stacked/ada").json["type"] == "owner"
    ada.change(status="inactive")
    assert api.get("/stacked/ada", 401).detail == "The account is inactive"
    assert api.get("/teams/ada/active").json["type"] == "owner"


@pytest.mark.parametrize("decorator", [active_member_required, active_member_required()])
def test_view_can_be_async_with_and_without_parentheses(
    app: Flask, ada: Person, decorator: Any
) -> None:
    async def wait(**path: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return show_workspace()

    app.add_url_rule("/api/v1/waiting/<workspace_slug>", view_func=decorator(wait))
    assert ada.api().get("/waiting/ada").json == {"workspace": "ada", "type": "owner"}
    assert Api(app).get("/waiting/ada", 401)
