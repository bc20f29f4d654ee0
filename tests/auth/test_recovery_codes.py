"""Recovery codes: for who has lost every authenticator, each good once."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import SECRET, MakeApp, Person
from .factors import challenge, enrol, enrolled, finish


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]')


def test_ten_come_with_the_first_authenticator_and_none_with_the_next(
    ada: Person, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    assert len(set(has.recovery_codes)) == 10
    for code in has.recovery_codes:
        assert re.fullmatch(r"[a-z2-9]{4}-[a-z2-9]{4}", code)
        assert not set(code) & set("ilou01")
    assert has.api.get("/recovery-codes").json == {"left": 10}
    assert enrol(has.api, clock).recovery_codes is None


def test_one_signs_in_once_and_its_owner_is_told_how_many_are_left(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    code = enrolled(ada, clock).recovery_codes[3]
    answer = finish(api, challenge(api, ada), recovery_code=code).json
    mails.assert_sent(ada.email, "a recovery code was used")
    assert "9 of them are left" in mails.last(ada.email).text
    here = api.as_token(answer["access_token"])
    assert here.get("/recovery-codes").json == {"left": 9}
    again = finish(api, challenge(api, ada), 400, recovery_code=code).json
    assert again["code"] == "incorrect_code"


@pytest.mark.parametrize("typed", [str.upper, lambda code: code.replace("-", ""), " {} ".format])
def test_it_may_be_typed_as_people_type(
    ada: Person, api: Api, clock: SteppingClock, typed: type[str]
) -> None:
    code = enrolled(ada, clock).recovery_codes[0]
    finish(api, challenge(api, ada), recovery_code=typed(code))


def test_a_new_set_ends_the_old_one(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    has = enrolled(ada, clock)
    codes = has.api.post("/recovery-codes", 201).json["recovery_codes"]
    mails.assert_sent(ada.email, "new recovery codes")
    assert not set(codes) & set(has.recovery_codes)
    finish(api, challenge(api, ada), 400, recovery_code=has.recovery_codes[0])
    finish(api, challenge(api, ada), recovery_code=codes[0])


def test_when_none_is_left_they_are_not_offered(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    for code in has.recovery_codes:
        finish(api, challenge(api, ada), recovery_code=code)
    form = {"username": ada.email, "password": ada.password}
    assert api.post("/login", 403, data=form).json["methods"] == ["totp"]


def test_they_are_kept_as_keyed_digests_alone(ada: Person, clock: SteppingClock) -> None:
    has = enrolled(ada, clock)
    with ada.app.app_context():
        rows = current_frontdesk.session.execute(
            text("SELECT digest FROM frontdesk_recovery_codes")
        ).all()
    stored = " ".join(row.digest for row in rows)
    assert len(rows) == 10
    for code in has.recovery_codes:
        assert code not in stored
        assert code.replace("-", "") not in stored


def test_another_key_knows_none_of_them_and_an_older_one_all(
    make_app: MakeApp, ada: Person, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    settings = {"AUTH__MFA": "optional", "SECRET_KEY": "another key, as long as keys should be"}
    other = Api(make_app(**settings))
    finish(other, challenge(other, ada), 400, recovery_code=has.recovery_codes[0])
    former = f'["{SECRET}"]'
    known = Api(make_app(**settings, CORE__SECRET_KEY_FALLBACKS=former))
    finish(known, challenge(known, ada), recovery_code=has.recovery_codes[0])
