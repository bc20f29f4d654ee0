"""Rules that every route must follow."""

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
    "active_caller_required",
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


def test_every_route_has_an_authorization_decorator(app: Flask) -> None:
    undeclared = [name for name, found in operations(app).items() if not (found and found.guard)]
    assert undeclared == []


def test_authorization_decorators_are_known(app: Flask) -> None:
    assert {found.guard for found in operations(app).values() if found} <= GUARDS


def test_every_protected_route_documents_the_token(app: Flask) -> None:
    without_token = {"anyone", "workspace_anonymous"}
    wrong = [
        name
        for name, found in operations(app).items()
        if found and found.bearer is (found.guard in without_token)
    ]
    assert wrong == []


def test_protected_routes_reject_requests_without_a_token(make_app: MakeApp) -> None:
    """Sends a request to each route that is declared as protected."""
    app = make_app(AUTH__ACCOUNT_DELETION="on", AUTH__ACCOUNT_EXPORTS="on")
    client = app.test_client()
    requests = 0
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
            requests += 1
    protected = [
        found
        for found in operations(app).values()
        if found and found.bearer and found.guard != "account_optional"
    ]
    assert requests >= len(protected)


def test_application_has_no_static_folder(app: Flask) -> None:
    """A static folder could serve files of the repository by accident."""
    assert not [rule for rule in app.url_map.iter_rules() if rule.endpoint == "static"]


def test_paths_with_and_without_a_slash_never_redirect(app: Flask) -> None:
    client = app.test_client()
    for path in ("/api/v1/health", "/api/v1/health/", "/api/v1/tasks", "/api/v1/tasks/"):
        assert client.get(path).status_code == 200, path


def test_paths_with_and_without_a_slash_respond_alike(api: Api) -> None:
    for path, methods in api.get("/openapi.json").json["paths"].items():
        bare = re.sub(r"{[^}]*}", "1", path).rstrip("/")
        for method in ("get", "post", "put", "patch", "delete"):
            variants = (bare, f"{bare}/")
            one, other = (api.client.open(each, method=method).status_code for each in variants)
            assert one == other, f"{method} {path}: {one} and {other}"
            assert one not in (301, 307, 308), f"{method} {path}: {one}"
            assert one != 405 or method not in methods, f"{method} {path}: {one}"


def test_allow_names_the_methods_of_the_path(api: Api) -> None:
    for path in api.get("/openapi.json").json["paths"]:
        bare = re.sub(r"{[^}]*}", "1", path).rstrip("/")
        for variant in (bare, f"{bare}/"):
            answers = {method: api.client.open(variant, method=method) for method in METHODS}
            allowed = {method for method in METHODS if answers[method].status_code != 405}
            assert answers["OPTIONS"].status_code == 200, variant
            for method in {"OPTIONS", *(set(METHODS) - allowed)}:
                assert set(answers[method].headers["Allow"].split(", ")) == allowed, (
                    method,
                    variant,
                )


def test_prefix_applies_to_every_route(make_app: MakeApp) -> None:
    app = make_app(CORE__API_V1_STR="/somewhere/v7")
    rules = {rule.rule for rule in api_rules(app)}
    # RFC 8615 reserves this path at the root of a server.
    assert [rule for rule in rules if not rule.startswith("/somewhere/v7/")] == [
        "/.well-known/jwks.json"
    ]
    Api(app, "/somewhere/v7").get("/health")
    Api(app, "/api/v1").get("/health", 404)


def test_blueprints_have_the_error_handlers_of_the_service(app: Flask) -> None:
    for name, blueprint in app.blueprints.items():
        spec = blueprint.error_handler_spec[None]
        registered = {kind for kinds in spec.values() for kind in kinds}
        assert registered >= {kind for kind, _ in handlers()}, name
