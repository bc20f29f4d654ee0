"""Concurrent use and enrollment of passkeys."""

from __future__ import annotations

from collections import Counter

import pytest
from flask import Flask
from sqlalchemy import select

from app.auth.mfa.models import Authenticator
from app.core.context import current_frontdesk
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, only_on
from ..rigs.racing import request, run_concurrently
from .passkey_holder import Holder

# 200 uses of one challenge, as many at a time as a worker has threads.
AT_ONCE, EACH = 40, 5


def check_single_use(holder: Holder) -> None:
    holder.add()
    send = request(holder.api, "POST", "/login/passkey", json={"credential": holder.show()})

    def send_all() -> int:
        """Return the number of successful sign-ins; every other response must be a 400."""
        statuses = Counter(send() for _ in range(EACH))
        assert statuses.keys() <= {200, 400}, statuses
        return statuses[200]

    assert run_concurrently(*[send_all] * AT_ONCE) == [0] * (AT_ONCE - 1) + [1]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


def test_challenge_is_single_use_under_concurrency(app: Flask, person: MakePerson) -> None:
    """The fixture runs with the in-memory store and with Redis."""
    check_single_use(Holder(person("ada").api()))


@only_on("sqlite")
@pytest.mark.parametrize("keystore", ["redis", "database"])
def test_challenge_is_single_use_with_other_state_stores(
    make_app: MakeApp, person: MakePerson, redis_url: str, keystore: str
) -> None:
    app = make_app(AUTH__PASSKEYS="on", CORE__KEYSTORE=keystore, CORE__REDIS_URL=redis_url)
    check_single_use(Holder(Api(app, token=person("ada", into=app).token())))


def test_one_of_concurrent_sign_ins_with_the_same_counter_succeeds(
    app: Flask, person: MakePerson
) -> None:
    """A clone is used at the same moment as the original."""
    holder = Holder(person("ada").api())
    holder.authenticator.count = 1
    holder.add()
    calls = [
        request(holder.api, "POST", "/login/passkey", json={"credential": holder.show(count=9)})
        for _ in range(20)
    ]
    assert run_concurrently(*calls) == [200] + [400] * 19


def test_concurrent_enrollments_respect_the_quota_and_share_a_user_handle(
    app: Flask, person: MakePerson
) -> None:
    ada = Holder(person("ada").api())
    ada.add()
    bodies = [{"name": "Laptop", "credential": Holder(ada.api).make()} for _ in range(20)]
    calls = [request(ada.api, "POST", "/authenticators/passkey", json=body) for body in bodies]
    assert run_concurrently(*calls) == [201] * 9 + [409] * 11
    with app.app_context():
        handles = current_frontdesk.session.scalars(select(Authenticator.user_handle)).all()
    assert (len(handles), len(set(handles))) == (10, 1)


def test_one_of_two_concurrent_first_passkeys_is_rejected(app: Flask, person: MakePerson) -> None:
    """Each passkey was created for its own user handle, and an account has only one."""
    ada = Holder(person("ada").api())
    bodies = [{"name": "Laptop", "credential": Holder(ada.api).make()} for _ in range(2)]
    calls = [request(ada.api, "POST", "/authenticators/passkey", json=body) for body in bodies]
    assert run_concurrently(*calls) == [201, 400]
