"""Every route against every caller who has no business there: no answer that helps, and not one row
written. A route that comes later stands in the matrix by being mounted."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jwt
import pytest
from flask import Flask
from sqlalchemy import inspect, text

from app.core.context import current_frontdesk
from app.core.web.operation import Operation, find_operation
from app.testing.client import Answer

from ..conftest import SECRET, MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from ..rigs.cases import for_each
from ..rigs.routes import api_rules

# What a stranger may do is with things of its own.
ENTERED_WITHOUT_BEING_ACTIVE = {"account_required", "account_optional", "roles_required"}


class Cell(NamedTuple):
    method: str
    path: str
    operation: Operation

    @property
    def is_about_others(self) -> bool:
        """Another's object, by its id or slug, or what only admins do."""
        return (
            "/admin/" in self.path
            or self.path.endswith(("/1", "/secret"))
            or any(part in self.path for part in ("/secret/", "/1/"))
        )

    def ask(self, app: Flask, token: str | None) -> Answer:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        body = self.operation.examples.get("json")
        sent: dict[str, Any] = {} if body is None else {"json": body}
        client = app.test_client()
        return Answer(client.open(self.path, method=self.method, headers=headers, **sent))


def cells(app: Flask) -> Iterator[Cell]:
    """Every route that asks who is calling, about what is Olga's."""
    urls = app.url_map.bind("localhost")
    for rule in api_rules(app):
        found = find_operation(app.view_functions[rule.endpoint])
        if found is None or not found.bearer or found.guard == "account_optional":
            continue
        values = dict.fromkeys(rule.arguments, 1) | {"workspace_slug": "secret"}
        known = {name: values[name] for name in rule.arguments}
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield Cell(method, urls.build(rule.endpoint, known, method=method), found)


# Rooms that are switched on by settings bring routes of their own.
FEATURES = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "14",
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__LOGIN_BY_CODE": "on",
}


@pytest.fixture(params=["as it comes", "with every room"])
def app(request: pytest.FixtureRequest, make_app: MakeApp) -> Flask:
    return make_app(**(FEATURES if request.param == "with every room" else {}))


@pytest.fixture
def olga(person: MakePerson) -> Person:
    return make_olga(person)


@pytest.fixture
def mallory(person: MakePerson) -> Person:
    return person("mallory")


def make_olga(person: MakePerson) -> Person:
    """The first account: with a workspace, a profile, and a notification in the inbox."""
    olga = person("olga", role="root")
    api = olga.api()
    api.post("/workspaces", json={"name": "Secret", "slug": "secret"})
    api.post("/profiles", json=ADA)
    data = {"title": "Hush", "message": "Nobody else reads this.", "channels": ["inapp"]}
    api.post("/admin/notifications", 201, json={"data": data})
    return olga


# That somebody was refused is itself written down.
ACTIONS = "SELECT * FROM frontdesk_events WHERE type <> 'access.refused'"


def rows(app: Flask) -> dict[str, str]:
    """A checksum of every table."""
    with app.app_context():
        session = current_frontdesk.session
        names = inspect(session.get_bind()).get_table_names()
        asked = {name: f'SELECT * FROM "{name}"' for name in names} | {"frontdesk_events": ACTIONS}
        found = {name: _checksum(session.execute(text(query))) for name, query in asked.items()}
        session.rollback()
    return found


def _checksum(found: Iterable[Any]) -> str:
    lines = sorted(map(str, found))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def signed(email: str, secret: str = SECRET, **claims: Any) -> str:
    return jwt.encode({"sub": email, "exp": int(time.time()) + 60, **claims}, secret, "HS256")


Callers = dict[str, Callable[[Person], str | None]]


def logged_out(somebody: Person) -> str:
    api = somebody.api()
    api.delete("/logout")
    return str(api.token)


def suspended(somebody: Person) -> str:
    token = somebody.token()
    somebody.change(status="suspended")
    return token


REFUSED: Callers = {
    "nobody": lambda _: None,
    "a token that is none": lambda _: "a.b.c",
    "a token by another key": lambda each: signed(each.email, "another key, long enough for HS256"),
    "an expired token": lambda each: signed(each.email, exp=int(time.time()) - 5),
    "a token of another kind": lambda each: signed(each.email, type="refresh"),
    "a token without an end": lambda each: jwt.encode({"sub": each.email}, SECRET, "HS256"),
    "a token for others": lambda each: signed(each.email, aud="somebody else"),
    "a token that nobody signed": lambda each: jwt.encode({"sub": each.email}, "", "none"),
    "a token from before a change": lambda each: signed(each.email, iat=time.time() - 3600),
    "somebody who logged out": logged_out,
}


@for_each("caller", REFUSED)
def test_who_is_nobody_enters_nowhere_and_writes_nothing(
    app: Flask, olga: Person, mallory: Person, caller: str
) -> None:
    token = REFUSED[caller](mallory)
    before, asked = rows(app), 0
    for cell in cells(app):
        assert cell.ask(app, token).status == 401, cell[:2]
        asked += 1
    assert rows(app) == before
    assert asked > 30


def test_who_is_suspended_enters_only_where_the_status_is_not_asked_for(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = suspended(person("mallory"))
    before = rows(app)
    for cell in cells(app):
        if cell.operation.guard not in ENTERED_WITHOUT_BEING_ACTIVE:
            assert cell.ask(app, token).status == 401, cell[:2]
    assert rows(app) == before


def test_a_stranger_gets_nothing_of_what_is_anothers(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = person("mallory").token()
    before, asked = rows(app), 0
    for cell in cells(app):
        # By contract anyone who is active reads a profile by its account's id.
        if cell.is_about_others and not (cell.method == "GET" and "/profiles/1" in cell.path):
            assert cell.ask(app, token).status in (403, 404), cell[:2]
            asked += 1
    assert rows(app) == before
    assert asked > 10


def test_an_admin_gets_nothing_of_another_admins(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = person("boss", role="admin").token()
    before = rows(app)
    for cell in cells(app):
        if "/admin/notifications/1" in cell.path or "/secret" in cell.path:
            assert cell.ask(app, token).status in (403, 404), cell[:2]
    assert rows(app) == before
