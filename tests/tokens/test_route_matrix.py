"""Every route with every kind of token. New routes are included automatically: a route with a scope
needs a line in `scoped_routes.py`, and every other route that reads a credential rejects tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import pytest
from flask import Flask

from app import (
    account_optional,
    account_required,
    active_account_required,
    active_caller_required,
    member_required,
    scope,
    superuser_required,
)
from app.auth.scopes import ACCOUNT_READ
from app.core.web.blueprint import loaded
from app.core.web.operation import SAFE_METHODS, Operation, find_operation
from app.testing.clock import SteppingClock
from app.testing.database import rolled_back

from ..conftest import MakeApp, MakePerson, only_on
from ..core.test_access_matrix import FEATURES
from ..rigs.cases import for_each
from ..rigs.console.faults import as_lines
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.sending import send
from .conftest import MakeToken
from .scoped_routes import CALLERS, INVALID, ROUTES, expected_response
from .token_world import PREPARE, World, choose_token

PREFIX = "/api/v1"
# Values of the variables in paths: Mia's account, and Olga's only notification.
VALUES = {"workspace_slug": "secret", "account_id": 3}
# Parts of the paths of routes that protect an account.
PROTECTING = {
    *("password", "email", "sessions", "session", "logout", "sign-out", "authenticators"),
    *("recovery-codes", "trusted-devices", "reauthenticate", "personal-tokens", "tokens", "scopes"),
    *("exports", "recovery", "unlock", "verify"),
}
# What pages respond instead of a 401: they redirect to the sign-in.
OF_PAGES = {"401 expired": "303", "401 revoked": "303"}
# Forms that find the caller themselves, and call a public view of the API.
READING_FORMS = {"console.mail_own_verification"}

pytestmark = only_on("sqlite")


class Route(NamedTuple):
    method: str
    path: str
    # As the table of routes has it; the endpoint of a page.
    name: str
    described: Operation
    is_page: bool

    @property
    def reads_credential(self) -> bool:
        """Whether a decorator of the view, or of the view that a form calls, finds the caller."""
        called = self.described.calls
        by_view = called is not None and operation_of(called).bearer
        return self.described.bearer or by_view or self.name in READING_FORMS

    def ask(self, app: Flask, token: str | None) -> str:
        """Return the status, and of a 401 and 403 what the problem says."""
        body = self.described.examples.get("json")
        sent: dict[str, Any] = {"data": {}} if body is None or self.is_page else {"json": body}
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = send(
            app,
            self.path,
            method=self.method,
            base_url=HOST,
            headers=headers | SAME_ORIGIN,
            **({} if self.method in SAFE_METHODS else sent),
        )
        if answer.status_code not in (401, 403) or self.is_page:
            return str(answer.status_code)
        problem = answer.get_json(force=True)
        code, reason = problem["code"], problem.get("reason")
        return f"{answer.status_code} {reason if code == 'invalid_credentials' else code}"


def operation_of(view: Any) -> Operation:
    found = find_operation(loaded(view))
    assert found is not None
    return found


def routes_of(app: Flask) -> Iterator[Route]:
    urls = app.url_map.bind("localhost")
    for rule in app.url_map.iter_rules():
        described = operation_of(app.view_functions[rule.endpoint])
        values = {name: VALUES.get(name, 1) for name in rule.arguments}
        is_page = rule.endpoint.startswith("console.")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            path = urls.build(rule.endpoint, values, method=method)
            name = rule.endpoint if is_page else f"{method} {rule.rule.removeprefix(PREFIX)}"
            yield Route(method, path, name, described, is_page)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    """The service with all features, and routes of an application."""
    app = make_app(
        **FEATURES,
        AUTH__PERSONAL_TOKEN_LIMIT="100000",
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="1000000",
        AUTH__FRESH_MINUTES="1000000",
        WORKSPACES__ADDING="direct",
    )

    def respond(**_path: str) -> dict[str, str]:
        return {}

    reads, anywhere = scope(ACCOUNT_READ), scope(ACCOUNT_READ, workspace=False)
    views: dict[str, Callable[..., Any]] = {
        "anywhere": account_required(anywhere(respond)),
        "account": active_account_required(reads(respond)),
        "admin": superuser_required(reads(respond)),
        "<workspace_slug>": active_caller_required(member_required(reads(respond))),
        "<workspace_slug>/person": active_account_required(member_required(reads(respond))),
        "closed": account_required(respond),
        "optional": account_optional(respond),
    }
    for name, view in views.items():
        app.add_url_rule(f"{PREFIX}/own/{name}", f"own-{name.replace('/', '-')}", view)
    return app


@pytest.fixture
def routes(app: Flask) -> list[Route]:
    return list(routes_of(app))


@pytest.fixture
def world(
    app: Flask,
    person: MakePerson,
    make_token: MakeToken,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    # One for each scope, and some others.
    monkeypatch.setattr("app.tokens.stored.MAX_TOKENS", 100)
    # Only the status counts: to render thousands of pages would take most of the time.
    monkeypatch.setattr("app.console.pages._render", lambda *_, **__: "")
    return World(app, person, make_token, clock)


@pytest.fixture
def anonymous(app: Flask, routes: list[Route], world: World) -> dict[str, str]:
    """The responses of the routes without a caller."""
    return {each.name: ask(app, each, None) for each in routes if not each.reads_credential}


def ask(app: Flask, route: Route, token: str | None) -> str:
    """Return the response, without what it changes."""
    changes = route.method not in SAFE_METHODS and not route.is_page
    with rolled_back(app) if changes else nullcontext():
        return route.ask(app, token)


def test_every_route_with_a_scope_has_a_line(routes: list[Route]) -> None:
    scoped = {each.name: each.described for each in routes if each.described.scopes}
    assert {name: found.scopes for name, found in scoped.items()} == {
        name: [line.scope] for name, line in ROUTES.items()
    }
    for name, found in scoped.items():
        assert not any("recent sign-in" in access for access in found.access), name
        assert not PROTECTING & {*name.split("/")}, name
    assert not {"PATCH /account", "DELETE /account"} & {*ROUTES}
    assert not any(name.startswith("DELETE /admin/accounts") for name in ROUTES)


@for_each("caller", [*CALLERS, *INVALID])
def test_every_route_has_one_response_for_each_token(
    app: Flask, routes: list[Route], world: World, anonymous: dict[str, str], caller: str
) -> None:
    if caller in PREPARE:
        PREPARE[caller](world)
    wrong = []
    for route in routes:
        # Before the request, which is rolled back.
        token = choose_token(world, caller, route.name)
        found = ask(app, route, token)
        # Routes without a caller respond as if there were no token.
        expected = anonymous.get(route.name) or expected_response(route.name, caller)
        if route.is_page and route.reads_credential:
            expected = OF_PAGES.get(expected, expected[:3])
        if found != expected:
            wrong.append(f"{route.name}: {found}, not {expected}")
    assert not wrong, as_lines(wrong)
