"""Frontdesk's blueprints in other applications: alone, at any prefix, and twice in a process."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Blueprint as PlainBlueprint
from flask import Flask
from jinja2 import DictLoader
from marshmallow import Schema, fields

from app import Frontdesk
from app.blueprints import (
    admin_notifications,
    auth,
    banners,
    docs,
    health,
    notifications,
    profiles,
    tasks,
    workspaces,
)
from app.core.web.blueprint import Blueprint
from app.core.web.operation import anyone
from app.core.web.responses import answers
from app.testing.client import Api
from app.testing.fakes import Fakes
from app.testing.kit import Kit
from app.testing.people import PASSWORD, make_person

from ..rigs.hosts import host_with, settings_with_active

JSON = {"Content-Type": "application/json"}
NEW_PASSWORD = "a password never seen before"
ODD = "/a/very/odd~prefix/v9"
ALONE = [
    (health, "GET", "/health", 200),
    (tasks, "GET", "/", 200),
    (auth, "GET", "/account", 401),
    (workspaces, "GET", "/", 401),
    (profiles, "GET", "/", 401),
    (notifications, "GET", "/", 401),
    (admin_notifications, "GET", "/all", 401),
    (banners, "GET", "/banners", 200),
    (docs, "GET", "/openapi.json", 200),
]


@pytest.mark.parametrize(("blueprint", "method", "path", "status"), ALONE)
def test_blueprint_works_alone_at_an_unusual_prefix(
    blueprint: Blueprint, method: str, path: str, status: int
) -> None:
    Api(host_with((blueprint, ODD)), ODD).send(method, path, status)


@pytest.mark.parametrize(("blueprint", "method", "path", "status"), ALONE)
@pytest.mark.parametrize("prefix", ["/", "", None])
def test_blueprint_works_alone_at_the_root(
    prefix: Any, blueprint: Blueprint, method: str, path: str, status: int
) -> None:
    Api(host_with((blueprint, prefix)), "").send(method, path, status)


def test_inbox_and_workspaces_work_without_the_auth_blueprint() -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    host = host_with((workspaces, "/rooms"), (notifications, "/post"), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    assert [room["slug"] for room in ada.api().get("/rooms/").json] == ["ada"]
    with host.app_context():
        frontdesk.notify("Welcome", "Hello", receivers=[ada.id])
    assert ada.api().get("/post/").json[0]["title"] == "Welcome"


def test_broadcast_without_an_account_model_is_500() -> None:
    host = host_with((admin_notifications, "/post"), account_model=None)
    data = {"title": "x", "message": "x", "channels": ["inapp"]}
    token = {"Authorization": "Bearer a.b.c"}
    response = Api(host, "/post").post("/", 500, json={"data": data}, headers=token)
    assert response.detail == "Account model is not configured"


def test_application_template_takes_precedence(frontdesk: Kit, app: Flask) -> None:
    app.jinja_loader = DictLoader({"reset_password.txt": "Dear {{ username }}: {{ code }}"})
    ada = frontdesk.account("ada")
    frontdesk.api("/desk").post("/password-recovery", json={"email": ada.email})
    mail = frontdesk.mails.last(ada.email)
    assert mail.text == f"Dear {ada.email}: {frontdesk.last_code(ada.email)}"
    assert "<" in mail.html


def test_fakes_deliver_on_request_with_an_in_memory_database(frontdesk_fakes: Fakes) -> None:
    extension = Frontdesk()
    host = host_with(frontdesk=extension)
    ada = make_person(host, "ada")
    with host.app_context():
        extension.notify("Welcome", "Hello", channels=["email"], receivers=[ada.id])
    frontdesk_fakes.mails.assert_empty()
    Kit(host, frontdesk_fakes).deliver()
    frontdesk_fakes.mails.assert_sent(ada.email, subject="Welcome")


@pytest.mark.parametrize("blueprint", [health, tasks, docs])
def test_blueprint_without_accounts_needs_no_account_model(blueprint: Blueprint) -> None:
    host_with((blueprint, "/desk"), account_model=None)


def test_sign_in_works_under_a_prefix_with_a_variable() -> None:
    host = host_with((auth, "/<tenant>/desk"))
    host.url_value_preprocessor(lambda _endpoint, values: values and values.pop("tenant", None))
    make_person(host, "ada")
    form = {"username": "ada@example.com", "password": PASSWORD}
    token = Api(host, "/acme/desk").post("/login", data=form).json["access_token"]
    Api(host, "/acme/desk", token).get("/account")


def test_inbox_links_include_the_mount_prefix() -> None:
    frontdesk = Frontdesk()
    host = host_with((auth, ""), (notifications, "/<tenant>/post/2"), frontdesk=frontdesk)
    host.url_value_preprocessor(lambda _endpoint, values: values and values.pop("tenant", None))
    ada = make_person(host, "ada")
    with host.app_context():
        frontdesk.notify("Hello", "A message.", receivers=[ada.id])
    for mount in ("/acme/post/2", "/a%20b/post/2"):
        api = Api(host, "", ada.token())
        behind = {"SCRIPT_NAME": "/app"}
        (item,) = api.get(f"{mount}/?limit=1", environ_overrides=behind).json
        assert item["links"]["self"] == f"/app{mount}/{item['id']}"
        path = item["links"]["mark"].removeprefix("/app")
        assert api.patch(path, environ_overrides=behind).json["links"] == item["links"]


def test_nested_blueprint_responds_with_problem_documents() -> None:
    outer = PlainBlueprint("outer", __name__)
    outer.register_blueprint(tasks, url_prefix="/tasks")
    host = host_with()
    host.register_blueprint(outer, url_prefix="/outer")
    api = Api(host, "/outer")
    api.post("/tasks/", 201, json={"title": "x"})
    assert api.get("/tasks/7", 404).json["code"] == "task_not_found"
    response = api.put("/tasks/7", 405)
    assert response.json["code"] == "method_not_allowed"
    assert "PATCH" in response.headers["Allow"]
    assert "X-Request-ID" in response.headers


def test_blueprint_mounted_twice_responds_at_both_prefixes() -> None:
    host = host_with((tasks, "/first"))
    host.register_blueprint(tasks, url_prefix="/second", name="more_tasks")
    for prefix in ("/first", "/second"):
        for path in ("", "/", "/1"):
            assert Api(host, prefix).put(path, 405).json["code"] == "method_not_allowed"
        assert Api(host, prefix).get("/1", 404).json["code"] == "task_not_found"


def test_second_mount_does_not_rename_operations() -> None:
    host = host_with((tasks, "/first"), (docs, ""))
    host.register_blueprint(tasks, url_prefix="/second", name="more_tasks")
    views = PlainBlueprint("views", __name__)
    views.add_url_rule("/own", "own_view", anyone(lambda: ""), methods=["GET", "PUT"])
    host.register_blueprint(views)
    names = {
        path: {method: described["operationId"] for method, described in methods.items()}
        for path, methods in Api(host, "").get("/openapi.json").json["paths"].items()
    }
    assert names["/first/"] == {"get": "listTasks", "post": "createTask"}
    assert names["/second/"] == {"get": "listMoreTasks", "post": "createMoreTask"}
    assert names["/own"] == {"get": "getViewsOwnView", "put": "putViewsOwnView"}


@pytest.mark.filterwarnings("ignore:Multiple schemas resolved")
def test_application_schemas_can_share_names_with_frontdesks() -> None:
    views = PlainBlueprint("views", __name__)
    for path, name in (("/first", "MemberType"), ("/x", "Problem"), ("/zoo", "MemberStatus")):
        schema = Schema.from_dict({"legs": fields.Integer()}, name=name)
        view = anyone(answers(200, schema)(dict))
        views.add_url_rule(path, name, view)
    host = host_with((workspaces, "/houses"), (docs, ""))
    host.register_blueprint(views)
    document = Api(host, "").get("/openapi.json").json
    schemas = document["components"]["schemas"]
    member = schemas["MemberRead"]["properties"]
    enums = {
        name: schemas[of["allOf"][0]["$ref"].rpartition("/")[2]]
        for name, of in member.items()
        if "allOf" in of
    }
    assert "owner" in enums["type"]["enum"]
    assert "code" in schemas["Problem"]["properties"]
    for path in ("/first", "/x", "/zoo"):
        content = document["paths"][path]["get"]["responses"]["200"]["content"]
        reference = content["application/json"]["schema"]["$ref"]
        assert list(schemas[reference.rpartition("/")[2]]["properties"]) == ["legs"]


def test_two_applications_have_separate_hooks() -> None:
    first, second = Frontdesk(), Frontdesk()
    notified: list[str] = []
    first.payload(lambda payload, session: {**payload, "token_type": "first"})
    second.on("account-logged-in")(lambda account, options: notified.append(account.email))
    one = host_with((auth, ""), frontdesk=first, settings=settings_with_active("fresh"))
    two = host_with((auth, ""), frontdesk=second)
    make_person(one, "ada", status="fresh")
    make_person(two, "bob")
    assert log_in(one, "ada", 200).json["token_type"] == "first"
    assert notified == []
    assert log_in(two, "bob", 200).json["token_type"] == "bearer"
    assert notified == ["bob@example.com"]


def test_one_extension_has_separate_state_for_each_application() -> None:
    frontdesk = Frontdesk()
    one = host_with((auth, ""), frontdesk=frontdesk, settings=settings_with_active("fresh"))
    two = host_with((auth, ""), frontdesk=frontdesk)
    for host in (one, two):
        make_person(host, "ada", status="fresh")
    log_in(one, "ada", 200)
    log_in(two, "ada", 400)


def test_hook_registered_late_applies_to_existing_applications() -> None:
    frontdesk = Frontdesk()
    host = host_with((auth, ""), frontdesk=frontdesk)
    frontdesk.payload(lambda payload, session: {**payload, "token_type": "late"})
    make_person(host, "ada")
    assert log_in(host, "ada", 200).json["token_type"] == "late"


def test_logout_affects_one_application_only() -> None:
    one, two = host_with((auth, "")), host_with((auth, ""))
    clients = [make_person(host, "ada").api() for host in (one, two)]
    clients[0].delete("/logout")
    clients[0].get("/account", 401)
    clients[1].get("/account")


@pytest.fixture
def app_with_handlers() -> Flask:
    """An application that handles every error itself."""
    host = host_with((tasks, "/desk/tasks"), (auth, "/desk"))

    def handle_error(error: Any) -> tuple[str, int]:
        return "custom error page", getattr(error, "code", None) or 500

    host.register_error_handler(Exception, handle_error)
    for status in (404, 405, 413, 415, 422, 500):
        host.register_error_handler(status, handle_error)
    return host


@pytest.mark.parametrize(
    ("method", "path", "status", "request_"),
    [
        ("PUT", "/tasks/1", 405, {}),
        ("POST", "/login", 415, {"json": {}}),
        ("POST", "/tasks/", 400, {"data": "{", "headers": JSON}),
        ("POST", "/tasks/", 413, {"data": "x" * 1024 * 1025, "headers": JSON}),
        ("POST", "/tasks/", 422, {"json": {}}),
        ("GET", "/account", 401, {}),
    ],
)
def test_frontdesk_routes_respond_with_problems_despite_custom_handlers(
    app_with_handlers: Flask, method: str, path: str, status: int, request_: dict[str, Any]
) -> None:
    response = Api(app_with_handlers, "/desk").send(method, path, status, **request_)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert status != 405 or "GET" in response.headers["Allow"]


def test_application_handlers_and_headers_apply(app_with_handlers: Flask) -> None:
    @app_with_handlers.after_request
    def frame(response: Any) -> Any:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response

    assert Api(app_with_handlers).send("GET", "/nowhere", 404).response.text == "custom error page"
    headers = Api(app_with_handlers, "/desk").get("/tasks/").headers
    assert headers.get_all("X-Frame-Options") == ["SAMEORIGIN"]


def test_password_reset_works_without_redis_mail_server_or_celery(
    frontdesk: Kit, app: Flask
) -> None:
    ada = frontdesk.account("ada")
    ada.prefix = "/desk"
    api = frontdesk.api("/desk")
    api.post("/password-recovery", json={"email": ada.email})
    frontdesk.mails.assert_sent(ada.email, subject="Host: reset your password")
    code = frontdesk.last_code(ada.email)
    assert code in frontdesk.mails.last(ada.email).text
    body = {"email": ada.email, "token": code, "new_password": NEW_PASSWORD}
    frontdesk.clock.step(minutes=9)
    api.post("/verify-token", json={"email": ada.email, "token": code})
    api.post("/reset-password", json=body)
    ada.password = NEW_PASSWORD
    ada.api().get("/account")


@pytest.fixture
def app() -> Flask:
    return host_with((auth, "/desk"))


def log_in(host: Flask, name: str, status: int) -> Any:
    form = {"username": f"{name}@example.com", "password": PASSWORD}
    return Api(host, "").post("/login", status, data=form)
