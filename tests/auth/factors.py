"""Test helpers for users with an authenticator app (TOTP)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import jwt

from app.accounts.service import Accounts
from app.auth.mfa.apps import AppEnrollment
from app.auth.mfa.policy import Enrollee
from app.auth.mfa.totp import STEP_SECONDS, code_at
from app.auth.sign_in.policy import NO_OPTIONS, response_payload
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..conftest import Person


@dataclass
class Phone:
    """A fake authenticator app: holds a secret and reads the clock."""

    secret: str
    clock: SteppingClock

    def code(self, later: int = 0) -> str:
        """Return the current code, or the code `later` time steps ahead."""
        step = int(self.clock.now().timestamp()) // STEP_SECONDS + later
        return code_at(base64.b32decode(self.secret), step)

    def next_code(self) -> str:
        """Advance the clock by one time step and return the new, unused code."""
        self.clock.step(seconds=STEP_SECONDS)
        return self.code()

    def wrong_code(self) -> str:
        valid = {self.code(step) for step in range(-3, 4)}
        return next(f"{each:06d}" for each in range(10) if f"{each:06d}" not in valid)


@dataclass
class Enrolled:
    phone: Phone
    # A client that is signed in with MFA.
    api: Api
    recovery_codes: list[str]


def enroll(api: Api, clock: SteppingClock, **body: Any) -> Enrolled:
    """Enroll an authenticator app for the account of `api`, or of the `mfa_token` in `body`."""
    app = api.post("/authenticators/totp", 201, json=body).json
    phone = Phone(app["secret"], clock)
    body = {"otp": phone.code(), **{k: v for k, v in body.items() if k == "mfa_token"}}
    answer = api.post(f"/authenticators/{app['id']}/confirm", json=body).json
    return Enrolled(phone, api.as_token(answer["access_token"]), answer["recovery_codes"])


def enrolled(person: Person, clock: SteppingClock) -> Enrolled:
    """Enroll an authenticator app through the services: the routes would also render a QR code."""
    with person.app.app_context():
        enrolling = Enrollee(service(Accounts).get(person.email))
        setup = service(AppEnrollment).begin(enrolling, "Phone")
        phone = Phone(setup["secret"], clock)
        confirmed = service(AppEnrollment).confirm(enrolling, setup["id"], phone.code(), NO_OPTIONS)
        token = response_payload(confirmed.outcome)["access_token"]
    return Enrolled(
        phone, Api(person.app, person.prefix, token), list(confirmed.recovery_codes or ())
    )


def challenge(api: Api, person: Person, **more: Any) -> str:
    """Sign in with the password alone and return the MFA token of the response."""
    form = {"username": person.email, "password": person.password}
    answer = api.as_token(None).post("/login", 403, data=form, **more).json
    assert answer["code"] == "mfa_required", answer
    return str(answer["mfa_token"])


def finish(api: Api, mfa_token: str, status: int = 200, **factor: Any) -> Answer:
    body = {"mfa_token": mfa_token, **factor}
    return api.as_token(None).post("/login/mfa", status, json=body)


def claims(api: Api) -> dict[str, object]:
    """Return the claims of the access token, without verifying the signature."""
    found: dict[str, object] = jwt.decode(str(api.token), options={"verify_signature": False})
    return found
