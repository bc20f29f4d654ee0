from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from app.core.http.operation import find_operation
from app.testing.client import Api

from .conftest import MakeApp

Described = tuple[str, dict[str, Any]]

# As the description of the interface writes them, with the service's own places for the two routers
# of notifications. Which slash a path ends with is part of it.
ROUTES = {
    "/login": "POST",
    "/logout": "DELETE",
    "/password-recovery": "POST",
    "/verify-token": "POST",
    "/reset-password": "POST",
    "/idp/login": "GET",
    "/idp/callback": "POST",
    "/health": "GET",
    "/profiles": "GET POST PUT DELETE",
    "/profiles/avatar": "PUT",
    "/profiles/{}": "GET PUT",
    "/workspaces": "GET POST",
    "/workspaces/current": "PUT",
    "/workspaces/{}/members": "GET POST",
    "/workspaces/{}/members/{}": "PATCH DELETE",
    "/notifications/": "GET",
    "/notifications/{}": "GET DELETE",
    "/notifications/{}/mark": "PATCH",
    "/notifications/mark-all": "PATCH",
    "/admin/notifications/": "POST",
    "/admin/notifications/all": "GET",
    "/admin/notifications/{}": "GET DELETE",
    "/tasks/": "GET POST",
    "/tasks/{}": "GET PATCH DELETE",
}

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/openapi.json").json
    return found


def operations(document: dict[str, Any]) -> Iterator[Described]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield f"{method.upper()} {path}", described


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_route_is_documented(app: Flask, document: dict[str, Any]) -> None:
    served = set()
    for rule in app.url_map.iter_rules():
        found = find_operation(app.view_functions[rule.endpoint])
        if found and not found.hidden:
            path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule.rule)
            served |= {f"{method} {path}" for method in rule.methods or ()}
    served = {name for name in served if name.split()[0] not in ("HEAD", "OPTIONS")}
    assert {name for name, _ in operations(document)} == served


def test_the_routes_of_the_interface_are_written_as_it_writes_them(
    document: dict[str, Any],
) -> None:
    written = {f"{method} {path}" for path, methods in ROUTES.items() for method in methods.split()}
    prefix = "/api/v1"
    documented = {
        re.sub(r"{[^}]*}", "{}", name.replace(prefix, "", 1)) for name, _ in operations(document)
    }
    assert written - documented == set()
    missing_a_slash = {f"{name}/" for name in written} | {name.rstrip("/") for name in written}
    assert documented & (missing_a_slash - written) == set()


def test_every_operation_has_a_summary_a_tag_and_a_name_of_its_own(
    document: dict[str, Any],
) -> None:
    names = [described["operationId"] for _, described in operations(document)]
    assert len(names) == len(set(names))
    tags = {tag["name"] for tag in document["tags"]}
    for name, described in operations(document):
        assert described["summary"], name
        assert set(described["tags"]) <= tags, name


def test_every_operation_says_what_it_answers(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        good = [status for status in described["responses"] if status[0] in "23"]
        assert good, name
        for status in good:
            assert status[0] == "3" or described["responses"][status]["content"], name


def test_every_operation_says_how_it_fails(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        failures = {status for status in described["responses"] if status[0] in "45"}
        expected = {"503"}
        if described.get("security"):
            expected.add("401")
        if "requestBody" in described:
            expected |= {"413", "415", "422"}
        assert failures >= expected, name
        for status in failures:
            content = described["responses"][status]["content"]
            assert content.keys() & {"application/problem+json", "application/json"}, name


def test_every_body_and_every_answer_has_an_example(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        bodies = [described["requestBody"]["content"]] if "requestBody" in described else []
        answers = [
            described["responses"][status].get("content", {})
            for status in described["responses"]
            if status[0] == "2"
        ]
        for kind, content in (pair for found in [*bodies, *answers] for pair in found.items()):
            if kind in ("application/json", "application/x-www-form-urlencoded"):
                assert "example" in content, f"{name}: {kind}"


def test_protected_operations_name_the_bearer_scheme(app: Flask, document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    secured = {name for name, described in operations(document) if described["security"]}
    assert secured, "auth is mounted, so something is protected"
    assert "GET /api/v1/health" not in secured
    assert "DELETE /api/v1/logout" in secured


def test_the_token_is_handed_out_by_the_login(document: dict[str, Any]) -> None:
    login = document["components"]["securitySchemes"]["login"]
    assert login["flows"]["password"] == {"tokenUrl": "/api/v1/login", "scopes": {}}
    for name, described in operations(document):
        ways = described["security"]
        assert ({"login": []} in ways) == ({"bearer": []} in ways), name
    assert {"login": []} in document["paths"]["/api/v1/logout"]["delete"]["security"]


def test_the_prefix_moves_the_document_and_its_paths(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__API_V1_STR="/somewhere/v7"), "/somewhere/v7")
    document = api.get("/openapi.json").json
    assert {path[: len("/somewhere/v7/")] for path in document["paths"]} == {"/somewhere/v7/"}


def test_the_document_has_the_projects_name(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROJECT_NAME="Reception"))
    assert api.get("/openapi.json").json["info"]["title"] == "Reception"


def test_a_hosts_own_schemas_are_those_of_the_document(document: dict[str, Any]) -> None:
    create = document["paths"]["/api/v1/tasks/"]["post"]["requestBody"]["content"]
    assert create["application/json"]["schema"] == {"$ref": "#/components/schemas/TaskCreate"}
    assert document["components"]["schemas"]["TaskCreate"]["required"] == ["title"]
