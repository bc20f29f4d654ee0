from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from flask import Blueprint, Flask

import app as flask_frontdesk
from app import (
    HeaderResolver,
    account_optional,
    account_required,
    active_account_required,
    answers,
    current_account,
    member_required,
    roles_required,
    superuser_required,
    takes,
    workspace_anonymous,
    workspace_roles_required,
)
from app.core.errors import SetupError
from app.core.web.fields import Message, Page
from app.core.web.operation import View
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person
from ..core.test_routes import GUARDS
from ..rigs.cases import for_each, new_name
from ..rigs.hosts import host_with


def show_caller() -> dict[str, Any]:
    return {"email": current_account.email if current_account else None}


def _active_admins(view: View) -> View:
    return active_account_required(roles_required("admin")(view))


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app()
    guards = {
        "account": account_required,
        "optional": account_optional,
        "active": active_account_required,
        "root": superuser_required,
        "admins": roles_required("admin", "root"),
        "active-admins": _active_admins,
    }
    for name, guard in guards.items():
        app.add_url_rule(f"/api/v1/guarded/{name}", name, guard(show_caller))
    return app


NOT_VALID = "Could not validate credentials"


@for_each("guard", ["account", "active", "root", "admins", "active-admins"])
def test_missing_token_is_rejected(api: Api, guard: str) -> None:
    assert api.get(f"/guarded/{guard}", 401).detail == NOT_VALID


def test_optional_decorator_accepts_anonymous_and_rejects_invalid_tokens(
    api: Api, ada: Person
) -> None:
    assert api.get("/guarded/optional").json == {"email": None}
    assert ada.api().get("/guarded/optional").json == {"email": ada.email}
    assert api.as_token("a.b.c").get("/guarded/optional", 401).detail == NOT_VALID
    assert api.get("/guarded/optional", 401, headers={"Authorization": ""}).detail == NOT_VALID


def test_revoked_token_is_rejected_by_every_decorator(ada: Person) -> None:
    api = ada.api()
    api.delete("/logout")
    for guard in ("account", "optional", "active", "root", "admins"):
        assert api.get(f"/guarded/{guard}", 401).detail == "Token expired"


# role, status, guard, expected status, expected text
TABLE = [
    ("user", "active", "account", 200, ""),
    ("user", "inactive", "account", 200, ""),
    ("user", "active", "active", 200, ""),
    ("user", "online", "active", 200, ""),
    ("user", "inactive", "active", 401, "The account is inactive"),
    ("root", "suspended", "active", 401, "The account is inactive"),
    ("root", "active", "root", 200, ""),
    ("admin", "active", "root", 403, "Not authorized"),
    ("root", "inactive", "root", 401, "The account is inactive"),
    ("admin", "active", "admins", 200, ""),
    ("root", "active", "admins", 200, ""),
    ("admin", "inactive", "admins", 200, ""),
    ("user", "active", "admins", 403, "Not authorized"),
    ("admin", "active", "active-admins", 200, ""),
    ("admin", "inactive", "active-admins", 401, "The account is inactive"),
    ("user", "active", "active-admins", 403, "Not authorized"),
]


@for_each(("role", "status", "guard", "expected", "text"), TABLE)
def test_access_by_role_and_status(
    person: MakePerson, role: str, status: str, guard: str, expected: int, text: str
) -> None:
    someone = person(new_name("someone"))
    api = someone.api()
    someone.change(role=role, status=status)
    answer = api.get(f"/guarded/{guard}", expected)
    assert expected == 200 or answer.detail == text


def test_stacked_decorators_load_the_account_once(app: Flask, person: MakePerson) -> None:
    api = person("boss", role="admin").api()
    with noted_queries(app) as queries:
        api.get("/guarded/active-admins")
    assert len(queries) == 1, queries


def test_logout_revokes_every_token_until_the_next_sign_in(ada: Person) -> None:
    first, second = ada.api(), ada.api()
    assert first.delete("/logout").json == {"message": "Logged out"}
    assert second.get("/account", 401).detail == "Token expired"
    assert second.delete("/logout", 401).detail == "Token expired"
    ada.api().get("/account")
    second.get("/account")


def test_lost_state_store_does_not_restore_tokens(app: Flask, ada: Person) -> None:
    api = ada.api()
    api.delete("/logout")
    app.extensions["frontdesk"].keystore.drop(f"revoked:{ada.email}")
    assert api.get("/account", 401).detail == "Token expired"
    ada.api().get("/account")
    api.get("/account")


def test_final_logout_keeps_earlier_tokens_revoked(make_app: MakeApp, person: MakePerson) -> None:
    ada = person(into=make_app(AUTH__LOGOUT_IS_FINAL="true"))
    before = ada.api()
    before.delete("/logout")
    assert before.get("/account", 401).detail == "Token expired"
    ada.api().get("/account")
    assert before.get("/account", 401).detail == NOT_VALID


def test_sign_in_aborted_by_a_listener_leaves_the_account_logged_out(
    app: Flask, ada: Person
) -> None:
    from .test_login import listen_to, log_in

    api = ada.api()
    api.delete("/logout")

    def refuse(account: Any, options: dict[str, Any]) -> None:
        raise RuntimeError("not today")

    listen_to(app, "account-logged-in", refuse)
    log_in(Api(app), ada.email, ada.password, 500)
    assert api.get("/account", 401).detail == "Token expired"


@account_required
@takes(query=Page)
@answers(200, None)
async def wait_and_show_caller(query: dict[str, Any], word: str = "") -> dict[str, Any]:
    await asyncio.sleep(0)
    return {**show_caller(), "limit": query["limit"], "word": word}


def test_view_can_be_async(app: Flask, api: Api, ada: Person) -> None:
    app.add_url_rule("/api/v1/waiting/<word>", view_func=wait_and_show_caller)
    app.add_url_rule("/api/v1/waiting", "bare", superuser_required(roles_required("root")(wait)))
    answer = ada.api().get("/waiting/x?limit=7").json
    assert answer == {"email": ada.email, "limit": 7, "word": "x"}
    api.get("/waiting/x", 401)
    assert ada.api().get("/waiting", 403).detail == "Not authorized"
    ada.change(role="root")
    assert ada.api().get("/waiting").json == {"email": ada.email}


async def wait() -> dict[str, Any]:
    await asyncio.sleep(0)
    return show_caller()


@pytest.mark.parametrize(
    "guard",
    [
        account_required,
        account_optional,
        active_account_required,
        superuser_required,
        roles_required("admin"),
        member_required,
        member_required(resolver=HeaderResolver()),
        workspace_anonymous,
        workspace_roles_required("owner"),
    ],
)
def test_decorated_view_keeps_its_name_docstring_and_signature(guard: Any) -> None:
    def view(word: str, number: int = 1) -> str:
        """Repeat a word."""
        return word * number

    guarded = guard(view)
    assert (guarded.__name__, guarded.__doc__) == ("view", "Repeat a word.")
    assert inspect.signature(guarded) == inspect.signature(view)


@pytest.mark.parametrize("name", sorted(GUARDS - {"anyone"}))
def test_every_decorator_has_a_docstring(name: str) -> None:
    guard = getattr(flask_frontdesk, name)
    assert guard.__name__ == name
    assert guard.__doc__


def test_decorator_above_the_route_raises_at_the_first_request() -> None:
    host = host_with()
    host.testing = True

    @active_account_required
    @host.get("/secret")
    def secret() -> str:
        return "public by mistake"

    @host.get("/hello")
    def hello() -> str:
        return "hello"

    client = host.test_client()
    with pytest.raises(SetupError, match="'secret' is above its route"):
        client.get("/secret")
    assert client.get("/hello").text == "hello"


def test_decorator_above_a_blueprint_route_raises_at_the_first_request() -> None:
    host = host_with()
    host.testing = True
    views = Blueprint("views", __name__)

    @roles_required("admin")
    @views.get("/secret")
    @answers(200, Message)
    def secret() -> dict[str, str]:
        return {"message": "public by mistake"}

    host.register_blueprint(views)
    with pytest.raises(SetupError, match=r"'views\.secret'"):
        host.test_client().get("/secret")


def test_view_can_be_served_with_and_without_authentication() -> None:
    host = host_with()

    @host.get("/open")
    def hello() -> str:
        return "hello"

    host.add_url_rule("/closed", "closed", account_required(hello))
    client = host.test_client()
    assert client.get("/open").text == "hello"
    assert client.get("/closed").status_code == 401
