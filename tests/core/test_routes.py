"""What holds for every route, whoever writes the next one."""

from __future__ import annotations

import re

from flask import Flask

from app.core.web.operation import Operation, find_operation
from app.core.web.problems import handlers
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.routes import api_rules

GUARDS = {
    "anyone",
    "account_required",
    "account_optional",
    "active_account_required",
    "superuser_required",
    "roles_required",
    "workspace_required",
    "workspace_anonymous",
    "member_required",
    "active_member_required",
    "workspace_roles_required",
}

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def operations(app: Flask) -> dict[str, Operation | None]:
    return {
        rule.endpoint: find_operation(app.view_functions[rule.endpoint])
        for rule in api_rules(app)
        if rule.endpoint != "static"
    }


def test_no_route_forgot_to_say_who_may_enter(app: Flask) -> None:
    silent = [name for name, found in operations(app).items() if not (found and found.guard)]
    assert silent == []


def test_who_may_enter_is_said_in_known_words(app: Flask) -> None:
    assert {found.guard for found in operations(app).values() if found} <= GUARDS


def test_every_guard_but_the_open_ones_asks_for_a_token(app: Flask) -> None:
    open_to_all = {"anyone", "workspace_anonymous"}
    wrong = [
        name
        for name, found in operations(app).items()
        if found and found.bearer is (found.guard in open_to_all)
    ]
    assert wrong == []


def test_a_route_that_asks_for_a_token_refuses_a_caller_without_one(app: Flask) -> None:
    """The record is not taken at its word: each such route is asked."""
    client = app.test_client()
    asked = 0
    for rule in api_rules(app):
        found = find_operation(app.view_functions[rule.endpoint])
        if found is None or not found.bearer or found.guard == "account_optional":
            continue
        path = app.url_map.bind("localhost").build(
            rule.endpoint, dict.fromkeys(rule.arguments, 1), method=min(rule.methods or ())
        )
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            response = client.open(path, method=method)
            assert response.status_code == 401, f"{method} {path}: {response.status_code}"
            assert response.headers["WWW-Authenticate"] == "Bearer"
            asked += 1
    protected = [found for found in operations(app).values() if found and found.bearer]
    assert asked >= len(protected) - 1


def test_there_is_no_folder_of_static_files(app: Flask) -> None:
    """Whatever lies in the repository's folder must not be served by accident."""
    assert not [rule for rule in app.url_map.iter_rules() if rule.endpoint == "static"]


def test_paths_answer_with_and_without_a_slash_and_never_redirect(app: Flask) -> None:
    client = app.test_client()
    for path in ("/api/v1/health", "/api/v1/health/", "/api/v1/tasks", "/api/v1/tasks/"):
        assert client.get(path).status_code == 200, path


def test_every_path_is_answered_alike_with_and_without_its_slash(api: Api) -> None:
    for path, methods in api.get("/openapi.json").json["paths"].items():
        bare = re.sub(r"{[^}]*}", "1", path).rstrip("/")
        for method in ("get", "post", "put", "patch", "delete"):
            ways = (bare, f"{bare}/")
            one, other = (api.client.open(way, method=method).status_code for way in ways)
            assert one == other, f"{method} {path}: {one} and {other}"
            assert one not in (301, 307, 308), f"{method} {path}: {one}"
            assert one != 405 or method not in methods, f"{method} {path}: {one}"


def test_allow_names_what_there_is(api: Api) -> None:
    for path in api.get("/openapi.json").json["paths"]:
        bare = re.sub(r"{[^}]*}", "1", path).rstrip("/")
        for way in (bare, f"{bare}/"):
            answers = {method: api.client.open(way, method=method) for method in METHODS}
            there = {method for method in METHODS if answers[method].status_code != 405}
            assert answers["OPTIONS"].status_code == 200, way
            for method in {"OPTIONS", *(set(METHODS) - there)}:
                assert set(answers[method].headers["Allow"].split(", ")) == there, (method, way)


def test_the_prefix_moves_every_route(make_app: MakeApp) -> None:
    app = make_app(CORE__API_V1_STR="/somewhere/v7")
    rules = {rule.rule for rule in api_rules(app)}
    assert [rule for rule in rules if not rule.startswith("/somewhere/v7/")] == []
    Api(app, "/somewhere/v7").get("/health")
    Api(app, "/api/v1").get("/health", 404)


def test_a_blueprint_brings_the_same_handlers_as_the_service(app: Flask) -> None:
    for name, blueprint in app.blueprints.items():
        spec = blueprint.error_handler_spec[None]
        registered = {kind for kinds in spec.values() for kind in kinds}
        assert registered >= {kind for kind, _ in handlers()}, name
