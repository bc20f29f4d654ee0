"""Many at once with one code, one recovery code, one token: one of them passes."""

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
from ..rigs.racing import at_once, request
from .factors import Phone, challenge, enrol, enrolled, finish
from .test_login import log_in

MANY = 200
# Where so many come at once, the database may have no time for each.
BUSY = 503


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]', AUTH__RATE_LIMITS_ENABLED="false"
    )


def answering(api: Api, mfa_token: str, **factor: Any) -> Callable[[], int]:
    return request(api, "POST", "/login/mfa", json={"mfa_token": mfa_token, **factor})


def passed(answers: list[int], *otherwise: int) -> int:
    told = Counter(answers)
    assert set(told) <= {200, BUSY, *otherwise}, told
    return told[200]


def test_of_many_with_one_code_one_passes(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    tokens = [challenge(api, ada) for _ in range(MANY)]
    code = phone.next_code()
    answers = at_once(*(answering(api, token, otp=code) for token in tokens))
    assert passed(answers, 400) == 1
    finish(api, challenge(api, ada), 400, otp=code)


def test_of_many_with_one_code_beside_the_password_one_passes(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    form = {"username": ada.email, "password": ada.password}
    form["otp"] = enrolled(ada, clock).phone.next_code()
    answers = at_once(*[request(api, "POST", "/login", data=form)] * 20)
    assert passed(answers, 400) == 1


def test_of_many_with_one_recovery_code_one_passes(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    tokens = [challenge(api, ada) for _ in range(MANY)]
    code = has.recovery_codes[0]
    answers = at_once(*(answering(api, token, recovery_code=code) for token in tokens))
    assert passed(answers, 400) == 1
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code()).json
    assert api.as_token(answer["access_token"]).get("/recovery-codes").json == {"left": 9}


def test_of_many_with_one_token_one_passes(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    token, code = challenge(api, ada), phone.next_code()
    answers = at_once(*[answering(api, token, otp=code)] * MANY)
    assert passed(answers, 400, 429) == 1


def test_with_one_token_and_many_right_codes_one_is_used(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    token = challenge(api, ada)
    codes = has.recovery_codes
    answers = at_once(*(answering(api, token, recovery_code=code) for code in codes))
    assert passed(answers, 400, 429) == 1
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code()).json
    assert api.as_token(answer["access_token"]).get("/recovery-codes").json == {"left": 9}


def test_of_many_guesses_with_one_token_five_are_looked_at(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    answers = at_once(*[answering(api, token, otp=phone.wrong_code())] * 50)
    assert Counter(answers) == {400: 5, 429: 45}


def test_of_many_guesses_with_many_tokens_ten_are_looked_at(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    limits = {"AUTH__LOGIN_LIMIT": "1000/minute", "AUTH__LOGIN_ADDRESS_LIMIT": "1000/minute"}
    app = make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]', **limits)
    ada, api = person("ada", into=app), Api(app)
    phone = enrolled(ada, clock).phone
    tokens = [challenge(api, ada) for _ in range(50)]
    wrong = phone.wrong_code()
    answers = at_once(*(answering(api, token, otp=wrong) for token in tokens))
    assert Counter(answers) == {400: 10, 429: 40}


def test_of_many_who_confirm_one_does_and_there_is_one_set_of_codes(
    ada: Person, clock: SteppingClock
) -> None:
    here = ada.api()
    made = here.post("/authenticators/totp", 201).json
    body = {"otp": Phone(made["secret"], clock).code()}
    path = f"/authenticators/{made['id']}/confirm"
    answers = at_once(*[request(here, "POST", path, json=body)] * 20)
    assert passed(answers, 401, 404) == 1
    assert count(ada.app, "frontdesk_recovery_codes") == 10


def test_of_the_last_two_that_go_at_once_one_stays(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="required", AUTH__MFA_METHODS='["totp"]')
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ada.email, ada.password, 403).json["mfa_token"]
    has = enrol(enrol(api, clock, mfa_token=token).api, clock)
    paths = [f"/authenticators/{each['id']}" for each in has.api.get("/authenticators").json]
    assert at_once(*(request(has.api, "DELETE", path) for path in paths)) == [200, 409]


def test_many_at_once_are_not_more_than_an_account_may_have(
    ada: Person, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    for _ in range(8):
        has = enrol(has.api, clock)
    answers = at_once(*[request(has.api, "POST", "/authenticators/totp")] * 20)
    assert set(answers) <= {201, 409, BUSY}
    assert count(ada.app, "frontdesk_authenticators") <= 10


def count(app: Flask, table: str) -> int:
    with app.app_context():
        found: int = current_frontdesk.session.execute(
            text(f"SELECT count(*) FROM {table}")
        ).scalar_one()
        return found
