"""A second factor beside the password: set up, asked for, named, removed."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, Person
from .factors import challenge, enrolled, finish


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]')


def test_the_whole_way(ada: Person, api: Api, clock: SteppingClock) -> None:
    ada_with = enrolled(ada, clock)
    assert len(ada_with.recovery_codes) == 10
    ada_with.api.get("/account")
    token = challenge(api, ada)
    answer = finish(api, token, otp=ada_with.phone.next_code())
    api.as_token(answer.json["access_token"]).get("/account")
