"""Events that invalidate refresh tokens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import SECRET, MakeApp, MakePerson, Person
from .test_refresh import ON, assert_rejected, refresh, sign_in
from .test_sessions import sid


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON)


@pytest.fixture
def token(api: Api, ada: Person) -> str:
    found: str = sign_in(api)["refresh_token"]
    return found


def suspend_and_reactivate(_: Api, ada: Person) -> None:
    ada.change(status="suspended")
    ada.change(status="active")


ENDS: dict[str, Callable[[Api, Person], object]] = {
    "logout": lambda api, ada: api.delete("/logout"),
    "session ended": lambda api, ada: api.delete(f"/sessions/{sid(api)}"),
    "password changed": lambda api, ada: ada.change(password="another battery staple"),
    "email changed": lambda api, ada: ada.change(email="countess@example.com"),
    "suspended": lambda api, ada: ada.change(status="suspended"),
    "suspension lifted": suspend_and_reactivate,
    "deletion requested": lambda api, ada: ada.change(status="deleting"),
    "verification required": lambda api, ada: ada.change(status="pending"),
}


@pytest.mark.parametrize("end", ENDS)
def test_event_that_ends_the_session_invalidates_the_refresh_token(
    api: Api, ada: Person, mails: MailOutbox, end: str
) -> None:
    answer = sign_in(api)
    ENDS[end](api.as_token(answer["access_token"]), ada)
    assert_rejected(api, answer["refresh_token"])
    assert not [mail for mail in mails.sent if "signed you out" in mail.subject]


def test_token_of_a_deleted_account_gets_the_same_error(
    app: Flask, api: Api, token: str, ada: Person
) -> None:
    app.test_cli_runner().invoke(args=["accounts", "delete", ada.email])
    assert_rejected(api, token)


def test_unused_token_expires(api: Api, ada: Person, clock: SteppingClock) -> None:
    answer = sign_in(api)
    ends = datetime.fromisoformat(answer["refresh_expires"])
    assert round((ends - clock.now()).total_seconds() / 86400, 2) == 7
    clock.step(days=6.9)
    token = refresh(api, answer["refresh_token"]).json["refresh_token"]
    clock.step(days=7.1)
    assert_rejected(api, token)


def test_token_expires_with_the_session(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    api = Api(make_app(**ON, AUTH__SESSION_DAYS="20"))
    person("ada", into=api.app)
    answer = sign_in(api)
    for _ in range(3):
        clock.step(days=6)
        answer = refresh(api, answer["refresh_token"]).json
    ends = datetime.fromisoformat(answer["refresh_expires"])
    assert round((ends - clock.now()).total_seconds() / 86400, 2) == 2
    clock.step(days=2.1)
    assert_rejected(api, answer["refresh_token"])


def test_token_survives_a_secret_key_rotation(make_app: MakeApp, api: Api, token: str) -> None:
    new = "another secret key for the tests, long enough"
    listed = make_app(**ON, SECRET_KEY=new, CORE__SECRET_KEY_FALLBACKS=f'["{SECRET}"]')
    successor = refresh(Api(listed), token).json["refresh_token"]
    assert_rejected(Api(make_app(**ON, SECRET_KEY=new)), token)
    assert_rejected(api, successor)
