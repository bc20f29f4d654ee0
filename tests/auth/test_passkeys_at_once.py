"""Passkeys that are shown or added many times at once."""

from __future__ import annotations

from collections import Counter

import pytest
from flask import Flask
from sqlalchemy import select

from app.auth.mfa.models import Authenticator
from app.core.context import current_frontdesk
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, only_on
from ..rigs.racing import at_once, request
from .passkey_holder import Holder

# Two hundred uses of one challenge, by as many at a time as one worker has threads.
AT_ONCE, EACH = 40, 5


def one_passes(holder: Holder) -> None:
    holder.add()
    send = request(holder.api, "POST", "/login/passkey", json={"credential": holder.show()})

    def send_all() -> int:
        """How often it was let in; what is neither that nor refused tells itself."""
        statuses = Counter(send() for _ in range(EACH))
        assert statuses.keys() <= {200, 400}, statuses
        return statuses[200]

    assert at_once(*[send_all] * AT_ONCE) == [0] * (AT_ONCE - 1) + [1]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


def test_of_many_who_answer_one_challenge_one_is_let_in(app: Flask, person: MakePerson) -> None:
    """In memory, and in Redis."""
    one_passes(Holder(person("ada").api()))


@only_on("sqlite")
@pytest.mark.parametrize("keystore", ["redis", "database"])
def test_so_it_is_with_the_keystore_elsewhere(
    make_app: MakeApp, person: MakePerson, redis_url: str, keystore: str
) -> None:
    app = make_app(AUTH__PASSKEYS="on", CORE__KEYSTORE=keystore, CORE__REDIS_URL=redis_url)
    one_passes(Holder(Api(app, token=person("ada", into=app).token())))


def test_of_many_with_one_count_one_is_let_in(app: Flask, person: MakePerson) -> None:
    """A copy that is used in the very moment in which its original is."""
    holder = Holder(person("ada").api())
    holder.authenticator.count = 1
    holder.add()
    calls = [
        request(holder.api, "POST", "/login/passkey", json={"credential": holder.show(count=9)})
        for _ in range(20)
    ]
    assert at_once(*calls) == [200] + [400] * 19


def test_of_many_that_are_added_at_once_ten_stay_and_have_one_handle(
    app: Flask, person: MakePerson
) -> None:
    ada = Holder(person("ada").api())
    ada.add()
    bodies = [{"name": "Laptop", "credential": Holder(ada.api).make()} for _ in range(20)]
    calls = [request(ada.api, "POST", "/authenticators/passkey", json=body) for body in bodies]
    assert at_once(*calls) == [201] * 9 + [409] * 11
    with app.app_context():
        handles = current_frontdesk.session.scalars(select(Authenticator.user_handle)).all()
    assert (len(handles), len(set(handles))) == (10, 1)


def test_of_two_first_ones_at_once_the_second_is_made_anew(app: Flask, person: MakePerson) -> None:
    """Each was made for a handle of its own, and an account has one."""
    ada = Holder(person("ada").api())
    bodies = [{"name": "Laptop", "credential": Holder(ada.api).make()} for _ in range(2)]
    calls = [request(ada.api, "POST", "/authenticators/passkey", json=body) for body in bodies]
    assert at_once(*calls) == [201, 400]
