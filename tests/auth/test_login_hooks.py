"""Claims and payload hooks, together with workspaces, in any order of registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jwt
import pytest
from flask import Flask
from marshmallow import Schema, fields

from app import Frontdesk, IncorrectCredentials, LoginRead, Schemas, WorkspaceLoginRead
from app.blueprints import auth
from app.core.context import service
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person
from app.workspaces.service import Workspaces

from ..rigs.hosts import HostSettings, host_with


class Greeting(WorkspaceLoginRead):
    greeting = fields.String()


def add_name(frontdesk: Frontdesk) -> None:
    @frontdesk.claims
    def claims(account: Any, session: Any) -> dict[str, Any]:
        return {"name": account.email}

    @frontdesk.payload
    def payload(payload: dict[str, Any], session: Any) -> dict[str, Any]:
        return {**payload, "greeting": f"Good morning, {payload['account'].email}"}


def with_workspaces(frontdesk: Frontdesk, *_: str) -> None:
    frontdesk.use_workspaces()


def create_team(frontdesk: Frontdesk, kind: str) -> None:
    def join(data: Any, session: Any) -> dict[str, Any]:
        account = data["account"] if kind == "payload" else data
        service(Workspaces).create(account, "The Team", "team")
        return data if kind == "payload" else {}

    getattr(frontdesk, kind)(join)


def sign_in(host: Flask) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sign in; return the response, and the claims of its access token."""
    ada = make_person(host, "ada")
    form = {"username": ada.email, "password": PASSWORD}
    answer = Api(host, "").post("/login", data=form).json
    return answer, jwt.decode(answer["access_token"], options={"verify_signature": False})


@pytest.mark.parametrize("order", [(add_name, with_workspaces), (with_workspaces, add_name)])
def test_workspaces_and_hooks_combine_in_either_order(
    order: tuple[Callable[[Frontdesk], None], ...],
) -> None:
    frontdesk = Frontdesk()
    for register in order:
        register(frontdesk)
    host = host_with((auth, ""), frontdesk=frontdesk, schemas=Schemas(login=Greeting))
    answer, claims = sign_in(host)
    assert answer["greeting"] == "Good morning, ada@example.com"
    assert answer["user"]["type"] == "owner"
    assert claims["name"] == "ada@example.com"
    assert claims["workspace_id"] == answer["current_workspace_id"]


def test_hook_receives_the_result_of_the_previous_hook() -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.payload(lambda payload, session: {**payload, "token_type": str(len(payload))})
    frontdesk.payload(lambda payload, session: {**payload, "token_type": payload["token_type"] * 2})
    answer, _ = sign_in(host_with((auth, ""), frontdesk=frontdesk))
    assert answer["token_type"] == "77"


@pytest.mark.parametrize("order", [(with_workspaces, create_team), (create_team, with_workspaces)])
@pytest.mark.parametrize("kind", ["claims", "payload"])
def test_workspace_created_by_a_hook_is_visible_to_later_hooks(
    kind: str, order: tuple[Callable[[Frontdesk, str], None], ...]
) -> None:
    frontdesk = Frontdesk()
    for register in order:
        register(frontdesk, kind)
    answer, _ = sign_in(host_with((auth, ""), frontdesk=frontdesk))
    added_last = kind == "payload" and order[1] is create_team
    slugs = [workspace["slug"] for workspace in answer["workspaces"]]
    assert slugs == (["ada"] if added_last else ["ada", "team"])


def test_workspaces_added_after_a_sign_in_are_in_the_next_response() -> None:
    frontdesk = Frontdesk()
    host = host_with((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    form = {"username": ada.email, "password": PASSWORD}
    assert "workspaces" not in Api(host, "").post("/login", data=form).json
    frontdesk.use_workspaces()
    assert Api(host, "").post("/login", data=form).json["workspaces"] == []


def test_adding_workspaces_twice_has_no_effect() -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.use_workspaces()
    answer, _ = sign_in(host_with((auth, ""), frontdesk=frontdesk))
    assert [workspace["slug"] for workspace in answer["workspaces"]] == ["ada"]


@pytest.mark.parametrize("schema", [LoginRead, type("Own", (LoginRead,), {})])
def test_login_schema_without_workspaces_drops_them(schema: type[Schema]) -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    answer, _ = sign_in(host_with((auth, ""), frontdesk=frontdesk, schemas=Schemas(login=schema)))
    assert answer["user"]["type"] == "owner"
    assert answer["user"]["created_at"].endswith("+00:00")
    assert "workspaces" not in answer


RESERVED_CLAIMS = [
    {"sub": "another@example.com"},
    {"iat": 2**40},
    {"exp": 1},
    {"nbf": 2**40},
    {"nbf": "on Monday"},
    {"type": "refresh"},
]


def with_claims(claims: dict[str, Any], **config: Any) -> Flask:
    frontdesk = Frontdesk()
    frontdesk.claims(lambda account, session: claims)
    host = host_with((auth, ""), frontdesk=frontdesk)
    host.config.update(config)
    return host


@pytest.mark.parametrize(
    "claims", [*RESERVED_CLAIMS, {"aud": "library"}, {"jti": 7}, {"iss": "library"}]
)
def test_token_is_valid_whatever_claims_a_hook_adds(claims: dict[str, Any]) -> None:
    host = with_claims(claims)
    answer, _ = sign_in(host)
    Api(host, "", token=answer["access_token"]).get("/account")


@pytest.mark.parametrize("claims", RESERVED_CLAIMS)
def test_reserved_claims_of_a_hook_are_logged_and_ignored(
    claims: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    _, token_claims = sign_in(with_claims(claims))
    assert f"which are ignored: {', '.join(claims)}." in caplog.text
    assert token_claims | claims != token_claims


@pytest.mark.parametrize(
    "host",
    [
        lambda: with_claims({"aud": "library"}),
        lambda: with_claims({"aud": ["archive", "library"]}),
        lambda: with_claims({}, JWT_ENCODE_AUDIENCE="library"),
        lambda: with_claims({}, JWT_ENCODE_AUDIENCE=["library"]),
    ],
)
def test_token_can_have_further_audiences(host: Callable[[], Flask]) -> None:
    app = host()
    token = sign_in(app)[0]["access_token"]
    Api(app, "", token=token).get("/account")
    assert jwt.decode(token, HostSettings.SECRET_KEY, ["HS256"], audience="library")


@pytest.mark.parametrize("kind", ["claims", "payload"])
def test_hook_that_returns_nothing_is_logged(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    frontdesk = Frontdesk()
    getattr(frontdesk, kind)(lambda data, session: None)
    host = host_with((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    Api(host, "").post("/login", 500, data={"username": ada.email, "password": PASSWORD})
    assert f"A {kind} hook must return a mapping, not NoneType" in caplog.text


def test_listener_that_rejects_a_sign_in_is_called_once() -> None:
    frontdesk = Frontdesk()
    calls = []

    @frontdesk.on("account-logged-in")
    def reject(account: Any, options: Any) -> None:
        calls.append(account.email)
        raise IncorrectCredentials

    host = host_with((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    Api(host, "").post("/login", 400, data={"username": ada.email, "password": PASSWORD})
    assert calls == [ada.email]
