"""Recovery codes: single-use codes for users who lost their authenticators."""

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
from .factors import challenge, enroll, enrolled, finish


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]')


def test_first_authenticator_returns_ten_codes(ada: Person, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    assert len(set(mfa.recovery_codes)) == 10
    for code in mfa.recovery_codes:
        assert re.fullmatch(r"[a-z2-9]{4}-[a-z2-9]{4}", code)
        assert not set(code) & set("ilou01")
    assert mfa.api.get("/recovery-codes").json == {"left": 10}
    assert enroll(mfa.api, clock).recovery_codes is None


def test_code_is_single_use_and_the_owner_is_notified(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    code = enrolled(ada, clock).recovery_codes[3]
    answer = finish(api, challenge(api, ada), recovery_code=code).json
    mails.assert_sent(ada.email, "a recovery code was used")
    assert "Recovery codes left: 9" in mails.last(ada.email).text
    here = api.as_token(answer["access_token"])
    assert here.get("/recovery-codes").json == {"left": 9}
    again = finish(api, challenge(api, ada), 400, recovery_code=code).json
    assert again["code"] == "incorrect_code"


@pytest.mark.parametrize("typed", [str.upper, lambda code: code.replace("-", ""), " {} ".format])
def test_code_is_accepted_in_any_common_spelling(
    ada: Person, api: Api, clock: SteppingClock, typed: type[str]
) -> None:
    code = enrolled(ada, clock).recovery_codes[0]
    finish(api, challenge(api, ada), recovery_code=typed(code))


def test_new_codes_invalidate_the_old_codes(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    mfa = enrolled(ada, clock)
    codes = mfa.api.post("/recovery-codes", 201).json["recovery_codes"]
    mails.assert_sent(ada.email, "new recovery codes")
    assert not set(codes) & set(mfa.recovery_codes)
    finish(api, challenge(api, ada), 400, recovery_code=mfa.recovery_codes[0])
    finish(api, challenge(api, ada), recovery_code=codes[0])


def test_recovery_is_not_offered_without_codes(ada: Person, api: Api, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    for code in mfa.recovery_codes:
        finish(api, challenge(api, ada), recovery_code=code)
    form = {"username": ada.email, "password": ada.password}
    assert api.post("/login", 403, data=form).json["methods"] == ["totp"]


def test_only_keyed_digests_are_stored(ada: Person, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    with ada.app.app_context():
        rows = current_frontdesk.session.execute(
            text("SELECT digest FROM frontdesk_recovery_codes")
        ).all()
    stored = " ".join(row.digest for row in rows)
    assert len(rows) == 10
    for code in mfa.recovery_codes:
        assert code not in stored
        assert code.replace("-", "") not in stored


def test_codes_survive_a_secret_key_rotation(
    make_app: MakeApp, ada: Person, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    settings = {"AUTH__MFA": "optional", "SECRET_KEY": "another key, as long as keys should be"}
    without_old_key = Api(make_app(**settings))
    finish(
        without_old_key, challenge(without_old_key, ada), 400, recovery_code=mfa.recovery_codes[0]
    )
    fallbacks = f'["{SECRET}"]'
    with_old_key = Api(make_app(**settings, CORE__SECRET_KEY_FALLBACKS=fallbacks))
    finish(with_old_key, challenge(with_old_key, ada), recovery_code=mfa.recovery_codes[0])
