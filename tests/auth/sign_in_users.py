"""Users of the sign-in matrix: test accounts, and the state that each one is in at sign-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.models import PENDING
from app.accounts.service import Accounts
from app.auth.mfa.devices import TrustedDevices
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD, Person, make_person

from ..workspaces.invited import Team, make_team
from .factors import Enrolled, Phone, enrolled


@dataclass
class Deployment:
    """The service before and after its settings change: accounts are created in `before`."""

    before: Flask
    now: Flask
    mails: MailOutbox
    clock: SteppingClock
    _team: Team | None = None

    @property
    def team(self) -> Team:
        def olga(name: str) -> Person:
            return make_person(self.before, name, prefix="/api/v1")

        if self._team is None:
            self._team = make_team(olga, self.mails)
        return self._team


@dataclass
class User:
    """A test user, with what their browser and their authenticator app hold."""

    deployment: Deployment
    person: Person
    # Set if the user has an authenticator app; its API client is signed in with MFA.
    enrolled: Enrolled | None = None
    device: str | None = None
    stored: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def api(self) -> Api:
        """Return a signed-in API client, for requests made before the account's state changes."""
        return self.enrolled.api if self.enrolled else self.person.api()

    @property
    def phone(self) -> Phone | None:
        return self.enrolled.phone if self.enrolled else None

    @property
    def email(self) -> str:
        return self.person.email

    @property
    def name(self) -> str:
        return self.email.partition("@")[0]

    def send(self, method: str, path: str, **request: Any) -> TestResponse:
        """Send a request that carries only the trusted-device token, if the user has one."""
        headers = dict(request.pop("headers", None) or {})
        if self.device:
            headers["X-Trusted-Device"] = self.device
        client = self.deployment.now.test_client(use_cookies=False)
        return client.open(f"/api/v1{path}", method=method, headers=headers, **request)

    def post(self, path: str, **body: Any) -> TestResponse:
        return self.send("POST", path, json=body)

    def log_in(self, password: str = PASSWORD, **more: str) -> TestResponse:
        form = {"username": self.email, "password": password, **more}
        return self.send("POST", "/login", data=form)


def create_user(deployment: Deployment, name: str, factor: str) -> User:
    """Create a user; `factor` decides whether they have an authenticator app and a trusted
    device."""
    person = make_person(deployment.before, name, prefix="/api/v1")
    if factor not in ("enrolled", "device"):
        return User(deployment, person)
    authenticator = enrolled(person, deployment.clock)
    device = _trusted(deployment.before, person) if factor == "device" else None
    return User(deployment, person, authenticator, device)


def _trusted(app: Flask, person: Person) -> str:
    """Trust a device, as a sign-in with a second factor does on request."""
    with app.app_context(), transaction(current_frontdesk.session):
        return service(TrustedDevices).trust(service(Accounts).get(person.email))


def _change(user: User, **columns: Any) -> None:
    """Change the account in the database directly, so that no session is revoked."""
    with user.deployment.before.app_context():
        session = current_frontdesk.session
        with transaction(session):
            account: Any = service(Accounts).get(user.email)
            for name, value in columns.items():
                setattr(account, name, value)


def _delete(user: User) -> None:
    user.api.delete("/account", 202)


def _unverify(user: User, **more: str) -> None:
    _change(user, email_unverified_since=user.deployment.clock.now(), **more)


def _suspended_until_yesterday(user: User) -> None:
    end = user.deployment.clock.now() - timedelta(days=1)
    _change(user, status="suspended", suspended_until=end)


STATES: dict[str, Callable[[User], object]] = {
    "verified": lambda user: None,
    "unverified": _unverify,
    "pending": lambda user: _unverify(user, status=PENDING),
    "suspended": lambda user: _change(user, status="suspended"),
    "over": _suspended_until_yesterday,
    "inactive": lambda user: _change(user, status="inactive"),
    "deleting": _delete,
}
