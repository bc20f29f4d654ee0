"""Concurrent MFA requests with one code, one recovery code or one MFA token: one succeeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.racing import request, run_concurrently
from .factors import Phone, challenge, enroll, enrolled, finish
from .test_login import log_in

MANY = 200
# Under this load, the database may time out for some requests.
BUSY = 503


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]', AUTH__RATE_LIMITS_ENABLED="false"
    )


def make_request(api: Api, mfa_token: str, **factor: Any) -> Callable[[], int]:
    return request(api, "POST", "/login/mfa", json={"mfa_token": mfa_token, **factor})


def successes(answers: list[int], *rejections: int) -> int:
    statuses = Counter(answers)
    assert set(statuses) <= {200, BUSY, *rejections}, statuses
    return statuses[200]


def test_code_is_single_use_under_concurrency(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    tokens = [challenge(api, ada) for _ in range(MANY)]
    code = phone.next_code()
    answers = run_concurrently(*(make_request(api, token, otp=code) for token in tokens))
    assert successes(answers, 400) == 1
    finish(api, challenge(api, ada), 400, otp=code)


def test_code_with_the_password_is_single_use_under_concurrency(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    form = {"username": ada.email, "password": ada.password}
    form["otp"] = enrolled(ada, clock).phone.next_code()
    answers = run_concurrently(*[request(api, "POST", "/login", data=form)] * 20)
    assert successes(answers, 400) == 1


def test_recovery_code_is_single_use_under_concurrency(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    tokens = [challenge(api, ada) for _ in range(MANY)]
    code = mfa.recovery_codes[0]
    answers = run_concurrently(*(make_request(api, token, recovery_code=code) for token in tokens))
    assert successes(answers, 400) == 1
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json
    assert api.as_token(answer["access_token"]).get("/recovery-codes").json == {"left": 9}


def test_mfa_token_is_single_use_under_concurrency(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token, code = challenge(api, ada), phone.next_code()
    answers = run_concurrently(*[make_request(api, token, otp=code)] * MANY)
    assert successes(answers, 400, 429) == 1


def test_one_mfa_token_uses_one_recovery_code(ada: Person, api: Api, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    token = challenge(api, ada)
    codes = mfa.recovery_codes
    answers = run_concurrently(*(make_request(api, token, recovery_code=code) for code in codes))
    assert successes(answers, 400, 429) == 1
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json
    assert api.as_token(answer["access_token"]).get("/recovery-codes").json == {"left": 9}


def test_five_guesses_per_mfa_token_are_checked(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    answers = run_concurrently(*[make_request(api, token, otp=phone.wrong_code())] * 50)
    assert Counter(answers) == {400: 5, 429: 45}


def test_ten_guesses_per_account_are_checked(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    limits = {"AUTH__LOGIN_LIMIT": "1000/minute", "AUTH__LOGIN_ADDRESS_LIMIT": "1000/minute"}
    app = make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]', **limits)
    ada, api = person("ada", into=app), Api(app)
    phone = enrolled(ada, clock).phone
    tokens = [challenge(api, ada) for _ in range(50)]
    wrong = phone.wrong_code()
    answers = run_concurrently(*(make_request(api, token, otp=wrong) for token in tokens))
    assert Counter(answers) == {400: 10, 429: 40}


def test_concurrent_confirmations_create_one_set_of_recovery_codes(
    ada: Person, clock: SteppingClock
) -> None:
    here = ada.api()
    app = here.post("/authenticators/totp", 201).json
    body = {"otp": Phone(app["secret"], clock).code()}
    path = f"/authenticators/{app['id']}/confirm"
    answers = run_concurrently(*[request(here, "POST", path, json=body)] * 20)
    assert successes(answers, 401, 404) == 1
    assert count(ada.app, "frontdesk_recovery_codes") == 10


def test_concurrent_removals_keep_the_last_authenticator(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    # Without sessions, the first removal ends the token of the second.
    app = make_app(AUTH__MFA="required", AUTH__MFA_METHODS='["totp"]', AUTH__SESSIONS="on")
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ada.email, ada.password, 403).json["mfa_token"]
    mfa = enroll(enroll(api, clock, mfa_token=token).api, clock)
    paths = [f"/authenticators/{each['id']}" for each in mfa.api.get("/authenticators").json]
    assert run_concurrently(*(request(mfa.api, "DELETE", path) for path in paths)) == [200, 409]


def test_concurrent_enrollments_respect_the_quota(ada: Person, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    for _ in range(8):
        mfa = enroll(mfa.api, clock)
    answers = run_concurrently(*[request(mfa.api, "POST", "/authenticators/totp")] * 20)
    assert set(answers) <= {201, 409, BUSY}
    assert count(ada.app, "frontdesk_authenticators") <= 10


def count(app: Flask, table: str) -> int:
    with app.app_context():
        found: int = current_frontdesk.session.execute(
            text(f"SELECT count(*) FROM {table}")
        ).scalar_one()
        return found
