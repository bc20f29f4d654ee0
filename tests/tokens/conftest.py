from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import MakeApp, Person

# Creates a token of an account, and returns the response.
MakeToken = Callable[..., dict[str, Any]]
# Returns a client that sends a new token of an account.
Program = Callable[..., Api]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    """The service, with access tokens that outlive the personal tokens."""
    return make_app(
        AUTH__PERSONAL_TOKENS="on",
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="1000000",
        AUTH__FRESH_MINUTES="1000000",
        WORKSPACES__ADDING="direct",
    )


@pytest.fixture
def make_token() -> MakeToken:
    def make(person: Person, *scopes: str, name: str = "Backup", **members: Any) -> dict[str, Any]:
        body = {"name": name, "scopes": scopes or ["account:read"], **members}
        created: dict[str, Any] = person.api().post("/personal-tokens", 201, json=body).json
        return created

    return make


@pytest.fixture
def program(make_token: MakeToken) -> Program:
    def make(person: Person, *scopes: str, **members: Any) -> Api:
        return person.api().as_token(make_token(person, *scopes, **members)["token"])

    return make
