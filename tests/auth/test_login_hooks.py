"""Claims and payload hooks, and workspaces beside them: whoever is registered takes part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jwt
import pytest
from flask import Flask
from marshmallow import Schema, fields

from app import Frontdesk, LoginRead, Schemas, WorkspaceLoginRead
from app.blueprints import auth
from app.core.context import service
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person
from app.workspaces.service import Workspaces

from ..rigs.hosts import HostSettings, host_of


class Greeting(WorkspaceLoginRead):
    greeting = fields.String()


def named(frontdesk: Frontdesk) -> None:
    @frontdesk.claims
    def claims(account: Any, session: Any) -> dict[str, Any]:
        return {"name": account.email}

    @frontdesk.payload
    def payload(payload: dict[str, Any], session: Any) -> dict[str, Any]:
        return {**payload, "greeting": f"Good morning, {payload['account'].email}"}


def with_workspaces(frontdesk: Frontdesk, *_: str) -> None:
    frontdesk.use_workspaces()


def joining(frontdesk: Frontdesk, kind: str) -> None:
    def join(given: Any, session: Any) -> dict[str, Any]:
        account = given["account"] if kind == "payload" else given
        service(Workspaces).create(account, "The Team", "team")
        return given if kind == "payload" else {}

    getattr(frontdesk, kind)(join)


def signed_in(host: Flask) -> tuple[dict[str, Any], dict[str, Any]]:
    """The login response, and the claims of the token in it."""
    ada = make_person(host, "ada")
    form = {"username": ada.email, "password": PASSWORD}
    answer = Api(host, "").post("/login", data=form).json
    return answer, jwt.decode(answer["access_token"], options={"verify_signature": False})


@pytest.mark.parametrize("order", [(named, with_workspaces), (with_workspaces, named)])
def test_workspaces_and_the_hosts_own_hooks_take_part_in_either_order(
    order: tuple[Callable[[Frontdesk], None], ...],
) -> None:
    frontdesk = Frontdesk()
    for register in order:
        register(frontdesk)
    host = host_of((auth, ""), frontdesk=frontdesk, schemas=Schemas(login=Greeting))
    answer, claims = signed_in(host)
    assert answer["greeting"] == "Good morning, ada@example.com"
    assert answer["user"]["type"] == "owner"
    assert claims["name"] == "ada@example.com"
    assert claims["workspace_id"] == answer["current_workspace_id"]


def test_a_later_hook_is_given_what_the_earlier_one_made() -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.payload(lambda payload, session: {**payload, "token_type": str(len(payload))})
    frontdesk.payload(lambda payload, session: {**payload, "token_type": payload["token_type"] * 2})
    answer, _ = signed_in(host_of((auth, ""), frontdesk=frontdesk))
    assert answer["token_type"] == "77"


@pytest.mark.parametrize("order", [(with_workspaces, joining), (joining, with_workspaces)])
@pytest.mark.parametrize("kind", ["claims", "payload"])
def test_a_workspace_that_a_hook_makes_is_told_of_by_those_after_it(
    kind: str, order: tuple[Callable[[Frontdesk, str], None], ...]
) -> None:
    frontdesk = Frontdesk()
    for register in order:
        register(frontdesk, kind)
    answer, _ = signed_in(host_of((auth, ""), frontdesk=frontdesk))
    late = kind == "payload" and order[1] is joining
    slugs = [workspace["slug"] for workspace in answer["workspaces"]]
    assert slugs == (["ada"] if late else ["ada", "team"])


def test_workspaces_that_are_added_after_a_sign_in_are_in_the_next_response() -> None:
    frontdesk = Frontdesk()
    host = host_of((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    form = {"username": ada.email, "password": PASSWORD}
    assert "workspaces" not in Api(host, "").post("/login", data=form).json
    frontdesk.use_workspaces()
    assert Api(host, "").post("/login", data=form).json["workspaces"] == []


def test_workspaces_asked_for_twice_make_one() -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.use_workspaces()
    answer, _ = signed_in(host_of((auth, ""), frontdesk=frontdesk))
    assert [workspace["slug"] for workspace in answer["workspaces"]] == ["ada"]


@pytest.mark.parametrize("schema", [LoginRead, type("Own", (LoginRead,), {})])
def test_a_login_schema_that_does_not_declare_workspaces_drops_them(schema: type[Schema]) -> None:
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    answer, _ = signed_in(host_of((auth, ""), frontdesk=frontdesk, schemas=Schemas(login=schema)))
    assert answer["user"]["type"] == "owner"
    assert answer["user"]["created_at"].endswith("+00:00")
    assert "workspaces" not in answer


OURS = [
    {"sub": "somebody"},
    {"iat": 2**40},
    {"exp": 1},
    {"nbf": 2**40},
    {"nbf": "on Monday"},
    {"type": "refresh"},
]


def with_claims(claims: dict[str, Any], **config: Any) -> Flask:
    frontdesk = Frontdesk()
    frontdesk.claims(lambda account, session: claims)
    host = host_of((auth, ""), frontdesk=frontdesk)
    host.config.update(config)
    return host


@pytest.mark.parametrize("claims", [*OURS, {"aud": "library"}, {"jti": 7}, {"iss": "library"}])
def test_a_token_opens_the_door_whatever_a_hook_adds_to_it(claims: dict[str, Any]) -> None:
    host = with_claims(claims)
    answer, _ = signed_in(host)
    Api(host, "", token=answer["access_token"]).get("/account")


@pytest.mark.parametrize("claims", OURS)
def test_a_hook_that_gives_what_is_ours_is_told_so(
    claims: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    _, signed = signed_in(with_claims(claims))
    assert f"A claims hook gives {', '.join(claims)}: left out" in caplog.text
    assert signed | claims != signed


@pytest.mark.parametrize(
    "host",
    [
        lambda: with_claims({"aud": "library"}),
        lambda: with_claims({"aud": ["archive", "library"]}),
        lambda: with_claims({}, JWT_ENCODE_AUDIENCE="library"),
        lambda: with_claims({}, JWT_ENCODE_AUDIENCE=["library"]),
    ],
)
def test_a_token_may_be_for_others_too(host: Callable[[], Flask]) -> None:
    made = host()
    token = signed_in(made)[0]["access_token"]
    Api(made, "", token=token).get("/account")
    assert jwt.decode(token, HostSettings.SECRET_KEY, ["HS256"], audience="library")


@pytest.mark.parametrize("kind", ["claims", "payload"])
def test_a_hook_that_returns_nothing_is_told_so(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    frontdesk = Frontdesk()
    getattr(frontdesk, kind)(lambda given, session: None)
    host = host_of((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    Api(host, "").post("/login", 500, data={"username": ada.email, "password": PASSWORD})
    assert f"A {kind} hook must return a mapping, not NoneType" in caplog.text
