"""What ends a refresh token, beside its use."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import SECRET, MakeApp, MakePerson, Person
from .test_refresh import ON, refresh, refused, sign_in
from .test_sessions import sid


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON)


@pytest.fixture
def token(api: Api, ada: Person) -> str:
    found: str = sign_in(api)["refresh_token"]
    return found


def suspend_for_a_moment(_: Api, ada: Person) -> None:
    ada.change(status="suspended")
    ada.change(status="active")


ENDS: dict[str, Callable[[Api, Person], object]] = {
    "a logout": lambda api, ada: api.delete("/logout"),
    "the end of the session": lambda api, ada: api.delete(f"/sessions/{sid(api)}"),
    "another password": lambda api, ada: ada.change(password="another battery staple"),
    "another address": lambda api, ada: ada.change(email="countess@example.com"),
    "a suspension": lambda api, ada: ada.change(status="suspended"),
    "a suspension that is over": suspend_for_a_moment,
    "an account that is to be deleted": lambda api, ada: ada.change(status="deleting"),
    "an address to be proven": lambda api, ada: ada.change(status="pending"),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_a_session_ends_its_refresh_token(
    api: Api, ada: Person, mails: MailOutbox, end: str
) -> None:
    answer = sign_in(api)
    ENDS[end](api.as_token(answer["access_token"]), ada)
    refused(api, answer["refresh_token"])
    assert not [mail for mail in mails.sent if "signed you out" in mail.subject]


def test_an_account_that_is_gone_is_not_told_from_others(
    app: Flask, api: Api, token: str, ada: Person
) -> None:
    app.test_cli_runner().invoke(args=["accounts", "delete", ada.email])
    refused(api, token)


def test_it_ends_when_it_is_not_used(api: Api, ada: Person, clock: SteppingClock) -> None:
    answer = sign_in(api)
    ends = datetime.fromisoformat(answer["refresh_expires"])
    assert round((ends - clock.now()).total_seconds() / 86400, 2) == 7
    clock.step(days=6.9)
    token = refresh(api, answer["refresh_token"]).json["refresh_token"]
    clock.step(days=7.1)
    refused(api, token)


def test_it_ends_at_the_latest_with_the_session(
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
    refused(api, answer["refresh_token"])


def test_a_refresh_token_of_a_former_secret_key_counts_while_that_is_listed(
    make_app: MakeApp, api: Api, token: str
) -> None:
    new = "another secret key for the tests, long enough"
    listed = make_app(**ON, SECRET_KEY=new, CORE__SECRET_KEY_FALLBACKS=f'["{SECRET}"]')
    successor = refresh(Api(listed), token).json["refresh_token"]
    refused(Api(make_app(**ON, SECRET_KEY=new)), token)
    refused(api, successor)
