"""The access matrix: every route rejects every unauthorized caller and writes nothing. New routes
are included automatically."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jwt
import pytest
from flask import Flask
from sqlalchemy import inspect, text
from werkzeug.routing import Rule

from app.core.context import current_frontdesk
from app.core.web.operation import Operation, find_operation
from app.testing.client import Answer
from scripts import http_api

from ..conftest import SECRET, MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from ..rigs.cases import for_each
from ..rigs.routes import api_rules

# Decorators that admit accounts of any status, or check the role only.
ANY_STATUS = {"account_required", "account_optional", "roles_required"}


class Case(NamedTuple):
    method: str
    path: str
    operation: Operation

    @property
    def is_about_others(self) -> bool:
        """Return whether the route needs an object of another account, or an admin."""
        return (
            "/admin/" in self.path
            or self.path.endswith(("/1", "/secret"))
            or any(part in self.path for part in ("/secret/", "/1/"))
        )

    def send(self, app: Flask, token: str | None) -> Answer:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        body = self.operation.examples.get("json")
        sent: dict[str, Any] = {} if body is None else {"json": body}
        client = app.test_client()
        return Answer(client.open(self.path, method=self.method, headers=headers, **sent))


def cases(app: Flask) -> Iterator[Case]:
    """Yield every protected route, with ids of Olga's objects."""
    urls = app.url_map.bind("localhost")
    for rule in api_rules(app):
        if not _is_protected(app, rule):
            continue
        found = find_operation(app.view_functions[rule.endpoint])
        assert found is not None
        values = dict.fromkeys(rule.arguments, 1) | {"workspace_slug": "secret"}
        known = {name: values[name] for name in rule.arguments}
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield Case(method, urls.build(rule.endpoint, known, method=method), found)


def _is_protected(app: Flask, rule: Rule) -> bool:
    found = find_operation(app.view_functions[rule.endpoint])
    return found is not None and found.bearer and found.guard != "account_optional"


# Routes without a caller, or with an optional one.
PUBLIC = {
    "GET /.well-known/jwks.json",
    "DELETE /session",
    "DELETE /tasks/<row_id:task_id>",
    "DELETE /unsubscribe/<token>",
    "GET /<workspace_slug>/profiles/avatars/<name>",
    "GET /banners",
    "GET /docs",
    "GET /docs/<name>",
    "GET /health",
    "GET /health/ready",
    "GET /idp/<provider>/login",
    "GET /idp/login",
    "GET /idp/providers",
    "GET /invitation",
    "GET /notifications/element/<version>/inbox.js",
    "GET /notifications/element/preferences",
    "GET /openapi.json",
    "GET /profiles/avatars/<name>",
    "GET /tasks/",
    "GET /tasks/<row_id:task_id>",
    "GET /unsubscribe/<token>",
    "PATCH /tasks/<row_id:task_id>",
    "POST /account/email/confirm",
    "POST /account/email/undo",
    "POST /account/restore",
    "POST /authenticators/<row_id:authenticator_id>/confirm",
    "POST /authenticators/passkey",
    "POST /authenticators/passkey/options",
    "POST /authenticators/totp",
    "POST /email-verification",
    "POST /email-verification/mail",
    "POST /idp/<provider>/backchannel-logout",
    "POST /idp/<provider>/callback",
    "POST /idp/<provider>/return",
    "POST /idp/<provider>/verify",
    "POST /idp/callback",
    "POST /invitation/decline",
    "POST /login",
    "POST /login/code",
    "POST /login/code/verify",
    "POST /login/link",
    "POST /login/mfa",
    "POST /login/passkey",
    "POST /login/passkey/options",
    "POST /password-recovery",
    "POST /registration",
    "POST /reset-password",
    "POST /session",
    "POST /session/code",
    "POST /session/mfa",
    "POST /session/passkey",
    "POST /tasks/",
    "POST /token",
    "POST /unsubscribe/<token>",
    "POST /verify-token",
}


# Features with further routes.
FEATURES = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "14",
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__PASSKEYS": "on",
    "AUTH__SESSIONS": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__EMAIL_VERIFICATION": "optional",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__PERSONAL_TOKENS": "on",
    "AUTH__PROVIDERS": '{"a": {"kind": "google", "client_id": "a", "client_secret": "a"}}',
}


@pytest.fixture(params=["default", "all features"])
def app(request: pytest.FixtureRequest, make_app: MakeApp) -> Flask:
    # A route that is off is a 404 for every caller.
    default = {"AUTH__ACCOUNT_DELETION": "on"}
    return make_app(**(FEATURES if request.param == "all features" else default))


@pytest.fixture
def olga(person: MakePerson) -> Person:
    return make_olga(person)


@pytest.fixture
def mallory(person: MakePerson) -> Person:
    return person("mallory")


def make_olga(person: MakePerson) -> Person:
    """Create the first account, with a workspace, a profile and a notification."""
    olga = person("olga", role="root")
    api = olga.api()
    api.post("/workspaces", json={"name": "Secret", "slug": "secret"})
    api.post("/profiles", json=ADA)
    data = {"title": "Hush", "message": "Only for Olga.", "channels": ["inapp"]}
    api.post("/admin/notifications", 201, json={"data": data})
    return olga


# Rejected requests are recorded in the audit log.
ACTIONS = "SELECT * FROM frontdesk_events WHERE type <> 'access.refused'"


def rows(app: Flask) -> dict[str, str]:
    """Return a checksum of every table."""
    with app.app_context():
        session = current_frontdesk.session
        names = inspect(session.get_bind()).get_table_names()
        count = {name: f'SELECT * FROM "{name}"' for name in names} | {"frontdesk_events": ACTIONS}
        found = {name: _checksum(session.execute(text(query))) for name, query in count.items()}
        session.rollback()
    return found


def _checksum(found: Iterable[Any]) -> str:
    lines = sorted(map(str, found))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def signed(email: str, secret: str = SECRET, **claims: Any) -> str:
    return jwt.encode({"sub": email, "exp": int(time.time()) + 60, **claims}, secret, "HS256")


Tokens = dict[str, Callable[[Person], str | None]]


def sign_out(person: Person) -> str:
    api = person.api()
    api.delete("/logout")
    return str(api.token)


def suspend(person: Person) -> str:
    token = person.token()
    person.change(status="suspended")
    return token


UNAUTHENTICATED: Tokens = {
    "no token": lambda _: None,
    "a malformed token": lambda _: "a.b.c",
    "a token signed with another key": lambda each: signed(
        each.email, "another key, long enough for HS256"
    ),
    "an expired token": lambda each: signed(each.email, exp=int(time.time()) - 5),
    "a token of another type": lambda each: signed(each.email, type="refresh"),
    "a token that never expires": lambda each: jwt.encode({"sub": each.email}, SECRET, "HS256"),
    "a token for another audience": lambda each: signed(each.email, aud="another service"),
    "an unsigned token": lambda each: jwt.encode({"sub": each.email}, "", "none"),
    "a token from before a password change": lambda each: signed(
        each.email, iat=time.time() - 3600
    ),
    "a revoked token": sign_out,
}


def test_matrix_has_the_features_of_the_documented_api() -> None:
    assert FEATURES.keys() == {f"AUTH__{name}" for name in http_api.AUTH_ON}


def test_routes_without_a_caller_are_known(app: Flask) -> None:
    """A new route that is outside of the matrix needs an entry here and tests of its own."""
    public = {
        f"{method} {rule.rule.removeprefix('/api/v1')}"
        for rule in api_rules(app)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if not _is_protected(app, rule)
    }
    assert sorted(public - PUBLIC) == []
    if "POST /login/passkey" in public:
        assert sorted(PUBLIC - public) == []


@for_each("caller", UNAUTHENTICATED)
def test_unauthenticated_caller_reads_and_writes_nothing(
    app: Flask, olga: Person, mallory: Person, caller: str
) -> None:
    token = UNAUTHENTICATED[caller](mallory)
    before, count = rows(app), 0
    for case in cases(app):
        assert case.send(app, token).status == 401, case[:2]
        count += 1
    assert rows(app) == before
    assert count > 30


def test_suspended_account_reaches_only_routes_for_any_status(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = suspend(person("mallory"))
    before = rows(app)
    for case in cases(app):
        if case.operation.guard not in ANY_STATUS:
            assert case.send(app, token).status == 401, case[:2]
    assert rows(app) == before


def test_another_user_cannot_reach_foreign_objects(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = person("mallory").token()
    before, count = rows(app), 0
    for case in cases(app):
        # Every active account may read profiles by account id (API contract).
        if case.is_about_others and not (case.method == "GET" and "/profiles/1" in case.path):
            assert case.send(app, token).status in (403, 404), case[:2]
            count += 1
    assert rows(app) == before
    assert count > 10


def test_admin_cannot_reach_objects_of_another_admin(
    app: Flask, olga: Person, person: MakePerson
) -> None:
    token = person("boss", role="admin").token()
    before = rows(app)
    for case in cases(app):
        if "/admin/notifications/1" in case.path or "/secret" in case.path:
            assert case.send(app, token).status in (403, 404), case[:2]
    assert rows(app) == before
