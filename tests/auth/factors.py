"""Somebody with an authenticator app, as tests meet them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import jwt

from app.accounts.service import Accounts
from app.auth.mfa.apps import AppEnrolment
from app.auth.mfa.policy import Enrolling
from app.auth.mfa.totp import STEP_SECONDS, code_at
from app.auth.sign_in.gate import NO_OPTIONS, payload_of
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..conftest import Person


@dataclass
class Phone:
    """An authenticator app, which knows a secret and the time."""

    secret: str
    clock: SteppingClock

    def code(self, later: int = 0) -> str:
        """The one it shows now, or so many steps later."""
        step = int(self.clock.now().timestamp()) // STEP_SECONDS + later
        return code_at(base64.b32decode(self.secret), step)

    def next_code(self) -> str:
        """One that was not used, after some waiting."""
        self.clock.step(seconds=STEP_SECONDS)
        return self.code()

    def wrong_code(self) -> str:
        near = {self.code(step) for step in range(-3, 4)}
        return next(f"{each:06d}" for each in range(10) if f"{each:06d}" not in near)


@dataclass
class Enrolled:
    phone: Phone
    # Signed in with the factor.
    api: Api
    recovery_codes: list[str]


def enrol(api: Api, clock: SteppingClock, **body: Any) -> Enrolled:
    """Set an app up for whoever `api` is, or whose `mfa_token` is given."""
    made = api.post("/authenticators/totp", 201, json=body).json
    phone = Phone(made["secret"], clock)
    body = {"otp": phone.code(), **{k: v for k, v in body.items() if k == "mfa_token"}}
    answer = api.post(f"/authenticators/{made['id']}/confirm", json=body).json
    return Enrolled(phone, api.as_token(answer["access_token"]), answer["recovery_codes"])


def enrolled(person: Person, clock: SteppingClock) -> Enrolled:
    """As by the routes, without the journey there: whoever asks these draws a QR code too."""
    with person.app.app_context():
        who = Enrolling(service(Accounts).get(person.email))
        begun = service(AppEnrolment).begin(who, "Phone")
        phone = Phone(begun["secret"], clock)
        done = service(AppEnrolment).confirm(who, begun["id"], phone.code(), NO_OPTIONS)
        token = payload_of(done.outcome)["access_token"]
    return Enrolled(phone, Api(person.app, person.prefix, token), list(done.recovery_codes or ()))


def challenge(api: Api, person: Person, **more: Any) -> str:
    """The password alone: what it is answered by is to be gone on with."""
    form = {"username": person.email, "password": person.password}
    answer = api.as_token(None).post("/login", 403, data=form, **more).json
    assert answer["code"] == "mfa_required", answer
    return str(answer["mfa_token"])


def finish(api: Api, mfa_token: str, status: int = 200, **factor: Any) -> Answer:
    body = {"mfa_token": mfa_token, **factor}
    return api.as_token(None).post("/login/mfa", status, json=body)


def claims(api: Api) -> dict[str, object]:
    """What the token tells."""
    found: dict[str, object] = jwt.decode(str(api.token), options={"verify_signature": False})
    return found
