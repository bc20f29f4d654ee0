"""Those who stand at the doors: what their accounts have become since they signed in."""

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
class House:
    """The service as it was when everybody's account was made, and as it is now."""

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
class Guest:
    """Somebody with an account, who stands at the door."""

    house: House
    person: Person
    # Signed in with the second factor, where there is one.
    enrolled: Enrolled | None = None
    device: str | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def api(self) -> Api:
        """Signed in: to be asked for while the account is as it should be."""
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
        """With nothing but what their browser has of them."""
        headers = dict(request.pop("headers", None) or {})
        if self.device:
            headers["X-Trusted-Device"] = self.device
        client = self.house.now.test_client(use_cookies=False)
        return client.open(f"/api/v1{path}", method=method, headers=headers, **request)

    def post(self, path: str, **body: Any) -> TestResponse:
        return self.send("POST", path, json=body)

    def log_in(self, password: str = PASSWORD, **more: str) -> TestResponse:
        form = {"username": self.email, "password": password, **more}
        return self.send("POST", "/login", data=form)


def arrive(house: House, name: str, factor: str) -> Guest:
    """With a second factor and with a device that is trusted, where `factor` says so."""
    person = make_person(house.before, name, prefix="/api/v1")
    if factor not in ("enrolled", "device"):
        return Guest(house, person)
    has = enrolled(person, house.clock)
    device = _trusted(house.before, person) if factor == "device" else None
    return Guest(house, person, has, device)


def _trusted(app: Flask, person: Person) -> str:
    """As at a sign-in with the second factor that asks for it."""
    with app.app_context(), transaction(current_frontdesk.session):
        return service(TrustedDevices).trust(service(Accounts).get(person.email))


def _change(guest: Guest, **columns: Any) -> None:
    """By an operator's hand, past all that would end a sign-in."""
    with guest.house.before.app_context():
        session = current_frontdesk.session
        with transaction(session):
            account: Any = service(Accounts).get(guest.email)
            for name, value in columns.items():
                setattr(account, name, value)


def _delete(guest: Guest) -> None:
    guest.api.delete("/account", 202)


def _unproven(guest: Guest, **more: str) -> None:
    _change(guest, email_unverified_since=guest.house.clock.now(), **more)


def _suspended_until_yesterday(guest: Guest) -> None:
    over = guest.house.clock.now() - timedelta(days=1)
    _change(guest, status="suspended", suspended_until=over)


STATES: dict[str, Callable[[Guest], object]] = {
    "verified": lambda guest: None,
    "unverified": _unproven,
    "pending": lambda guest: _unproven(guest, status=PENDING),
    "suspended": lambda guest: _change(guest, status="suspended"),
    "over": _suspended_until_yesterday,
    "inactive": lambda guest: _change(guest, status="inactive"),
    "deleting": _delete,
}
