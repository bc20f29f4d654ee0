"""Concurrent refreshes: tabs that share a token stay signed in, and ended sessions stay ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson
from .test_refresh import ON, sign_in
from .test_sessions import is_in

TABS = 8
ROUNDS = 200


@pytest.fixture
def workers(make_app: MakeApp) -> list[Flask]:
    """Return several applications on one database, each with its own connections."""
    return [make_app(**ON) for _ in range(3)]


def counter(app: Flask) -> int:
    with app.app_context():
        session = current_frontdesk.session
        found: int = session.execute(text("SELECT counter FROM frontdesk_sessions")).scalar_one()
        session.rollback()
    return found


def make_exchange(app: Flask, token: str) -> Callable[[], tuple[int, Any]]:
    def send() -> tuple[int, Any]:
        form = {"grant_type": "refresh_token", "refresh_token": token}
        response = app.test_client().post("/api/v1/token", data=form)
        return response.status_code, response.get_json(force=True)

    return send


class Tabs:
    """A thread per browser tab; all threads start each round together."""

    def __init__(self) -> None:
        self.barrier = Barrier(TABS)
        self.threads = ThreadPoolExecutor(TABS)

    def run_concurrently(self, *calls: Callable[[], tuple[int, Any]]) -> list[tuple[int, Any]]:
        def start_together(call: Callable[[], tuple[int, Any]]) -> tuple[int, Any]:
            self.barrier.wait()
            return call()

        return list(self.threads.map(start_together, calls))


def test_eight_concurrent_tabs_stay_signed_in(
    workers: list[Flask], person: MakePerson, mails: MailOutbox
) -> None:
    person("ada", into=workers[0])
    token = sign_in(Api(workers[0]))["refresh_token"]
    tabs = Tabs()
    for number in range(ROUNDS):
        calls = [make_exchange(workers[tab % len(workers)], token) for tab in range(TABS)]
        answers = tabs.run_concurrently(*calls)
        assert [status for status, _ in answers] == [200] * TABS, answers
        [token] = {body["refresh_token"] for _, body in answers}
        assert counter(workers[0]) == number + 1
    assert all(is_in(Api(workers[1], token=body["access_token"])) for _, body in answers)
    mails.assert_empty()


def test_eight_concurrent_reuses_end_the_session_and_send_one_email(
    workers: list[Flask], person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    person("ada", into=workers[0])
    token = sign_in(Api(workers[0]))["refresh_token"]
    status, owner = make_exchange(workers[0], token)()
    assert status == 200
    clock.step(seconds=31)
    calls = [make_exchange(workers[tab % len(workers)], token) for tab in range(TABS)]
    assert [status for status, _ in Tabs().run_concurrently(*calls)] == [400] * TABS
    assert not is_in(Api(workers[2], token=owner["access_token"]))
    assert len(mails) == 1
    assert counter(workers[0]) == 1


def test_session_ended_during_a_refresh_stays_ended(
    workers: list[Flask], person: MakePerson
) -> None:
    """The session is over, whichever request is first."""
    person("ada", into=workers[0])
    tabs = Tabs()
    for _ in range(20):
        answer = sign_in(Api(workers[0]))
        owner = Api(workers[1], token=answer["access_token"])

        def end(owner: Api = owner) -> tuple[int, Any]:
            return owner.delete("/sessions").status, None

        exchange = make_exchange(workers[2], answer["refresh_token"])
        outcomes = tabs.run_concurrently(end, *[exchange] * (TABS - 1))
        for status, body in outcomes[1:]:
            assert status in (200, 400)
            if status == 200:
                assert not is_in(Api(workers[0], token=body["access_token"]))
                assert make_exchange(workers[0], body["refresh_token"])()[0] == 400
