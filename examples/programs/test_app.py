from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_frontdesk.testing import Api, Kit, Person

from app import create_app


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    ada = frontdesk.account("ada")
    frontdesk.workspace("team", owner=ada)
    return ada


# [program]
def program(person: Person, path: str, *scopes: str, **members: Any) -> Api:
    """Create a token, and return a client that sends it."""
    body = {"name": "Import", "scopes": scopes, **members}
    token = person.api().post(f"/api{path}", 201, json=body).json["token"]
    return person.api().as_token(token)


# [end]
# [test]
def test_personal_token_needs_the_scope_of_the_view(ada: Person) -> None:
    token = program(ada, "/personal-tokens", "orders:create")
    order = token.post("/api/team/orders", json={"item": "desk"}).json
    assert order["account_id"] == ada.id
    refused = token.get("/api/orders", 403)
    assert refused.json["code"] == "insufficient_scope"
    assert refused.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", scope="orders:read"'
    )
    reader = program(ada, "/personal-tokens", "orders:read")
    assert reader.get("/api/orders").json == [order]
    assert reader.get("/api/team/orders").json == [order]


# [end]


def test_users_who_signed_in_need_no_scope(ada: Person) -> None:
    order = ada.api().post("/api/team/orders", json={"item": "desk"}).json
    assert ada.api().get("/api/orders").json == [order]


def test_scopes_of_the_application_are_listed(ada: Person) -> None:
    scopes = {each["name"]: each["description"] for each in ada.api().get("/api/scopes").json}
    assert scopes["orders:read"] == "Read orders"
    assert scopes["orders:create"] == "Create orders"


def test_token_limited_to_a_workspace_is_accepted_in_it(ada: Person) -> None:
    token = program(ada, "/personal-tokens", "orders:read", workspace="team")
    token.get("/api/team/orders")
    token.get("/api/items")
    assert token.get("/api/orders", 403).detail == "The token is limited to a workspace"


def test_token_of_the_workspace_has_no_account(ada: Person) -> None:
    scopes = ("orders:create", "orders:read")
    token = program(ada, "/workspaces/team/tokens", *scopes, type="admin")
    order = token.post("/api/team/orders", json={"item": "desk"}).json
    assert order["account_id"] is None
    assert token.get("/api/current/orders").json == [order]
    for path in ("/api/orders", "/api/items"):
        assert token.get(path, 403).json["code"] == "account_required"
