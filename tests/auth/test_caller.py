"""The caller of a request: several kinds of credentials, resolved once per request."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, Request

from app.accounts.service import Accounts
from app.auth.caller import Caller, Callers
from app.auth.errors import InvalidCredentials
from app.core.context import service
from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each


def read_badge(request: Request, _optional: bool) -> Caller | None:
    """A reader for another kind of credential: a header that is trusted as it stands."""
    badge = request.headers.get("X-Badge")
    if badge is None:
        return None
    account = service(Accounts).rows.read(badge)
    if account is None:
        raise InvalidCredentials
    return Caller(account, "badge")


@pytest.fixture
def badges(app: Flask) -> Flask:
    app.extensions["frontdesk"].get(Callers).readers.append(read_badge)
    return app


def with_badge(api: Api, status: int = 200, badge: str = "ada@example.com") -> str | None:
    found: str | None = api.get("/account", status, headers={"X-Badge": badge}).json.get("email")
    return found


def test_custom_credential_authenticates_on_all_routes(badges: Flask, ada: Person) -> None:
    assert with_badge(Api(badges)) == ada.email
    with_badge(Api(badges), 401, badge="unknown@example.com")


def test_authorization_header_takes_precedence(
    badges: Flask, ada: Person, person: MakePerson
) -> None:
    grace = person("grace")
    assert with_badge(grace.api()) == grace.email


@for_each("header", ["", "Bearer", "Bearer a.b.c", "Basic YTpi"])
def test_invalid_header_is_not_replaced_by_another_credential(
    badges: Flask, ada: Person, header: str
) -> None:
    sent = {"Authorization": header, "X-Badge": ada.email}
    Api(badges).get("/account", 401, headers=sent)


def test_logout_with_custom_credential_revokes_all_tokens(badges: Flask, ada: Person) -> None:
    by_token = ada.api()
    Api(badges).delete("/logout", headers={"X-Badge": ada.email})
    assert by_token.get("/account", 401).detail == "Token expired"


def test_caller_is_reset_between_requests(app: Flask, ada: Person, person: MakePerson) -> None:
    """Flask keeps `g` across requests while an application context is open."""
    first, second, anonymous = ada.api(), person("grace").api(), Api(app)
    with app.app_context():
        assert first.get("/account").json["email"] == ada.email
        assert second.get("/account").json["email"] == "grace@example.com"
        anonymous.get("/account", 401)


def test_listeners_are_notified_of_sign_in_and_logout(app: Flask, ada: Person) -> None:
    events: list[tuple[str, Any]] = []

    def listen_to(event: str) -> None:
        app.extensions["frontdesk"].actions.on(
            event, lambda _, options: events.append((event, options["origin"].account_id))
        )

    listen_to("account-logged-in")
    listen_to("account-logged-out")
    ada.api().delete("/logout")
    assert events == [("account-logged-in", ada.id), ("account-logged-out", ada.id)]
