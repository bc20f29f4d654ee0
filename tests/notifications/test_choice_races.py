"""Choices of recipients that are made while a worker claims and sends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select

from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.outbox.models import Delivery
from app.delivery.worker.worker import Worker
from app.notifications.choices import Choices
from app.notifications.inbox import Inbox
from app.notifications.optouts import OptOut
from app.notifications.preferences import Preferences
from app.testing.clock import SteppingClock

from ..conftest import Person
from .conftest import Notify

ROUNDS = 200
# Seconds: each of the two threads waits up to seven of them.
PAUSE = 0.003
Action = Callable[[], object]
Result = tuple[str, str | None]


class Race:
    """A recipient's choice and a worker that start together. The worker reads the choices once, and
    a choice that was stored before counts."""

    def __init__(self, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
        self.app = app
        self.read_at = 0.0
        read = Choices.skip_reasons

        def note_and_read(choices: Choices, *given: Any) -> Mapping[int, str]:
            self.read_at = time.monotonic()
            return read(choices, *given)

        monkeypatch.setattr(Choices, "skip_reasons", note_and_read)
        app.extensions["frontdesk"].hooks.add("channel", lambda *_: None, "email")

    def run(self, number: int, choose: Action, act: Action = lambda: None) -> tuple[Result, bool]:
        """Return the result of the only delivery, and whether the choice came first."""
        barrier = Barrier(2)

        def in_thread(pause: float, *actions: Action) -> float:
            with self.app.app_context():
                barrier.wait()
                time.sleep(pause)
                for each in actions:
                    each()
                return time.monotonic()

        with ThreadPoolExecutor(2) as pool:
            chosen = pool.submit(in_thread, number % 8 * PAUSE, choose)
            worked = pool.submit(in_thread, number // 8 % 8 * PAUSE, act, self._work)
            chosen_at = chosen.result()
            worked.result()
        with self.app.app_context(), transaction(current_frontdesk.session) as session:
            [found] = session.execute(select(Delivery.state, Delivery.reason))
            session.execute(delete(Delivery))
            session.execute(delete(OptOut))
        return (found.state, found.reason), chosen_at < self.read_at

    def _work(self) -> None:
        service(Worker).drain(["email"])


@pytest.fixture
def race(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Race:
    return Race(app, monkeypatch)


def check(results: list[tuple[Result, bool]], skipped: Result) -> None:
    assert {result for result, _ in results} <= {skipped, ("sent", None)}
    assert {result for result, is_first in results if is_first} <= {skipped}
    # Both orders took place.
    assert len({result for result, _ in results}) == 2


def test_opt_out_while_a_notification_is_sent(race: Race, ada: Person, notify: Notify) -> None:
    off = {"announcements": {"email": False}}
    results = [
        race.run(
            number,
            lambda: service(Preferences).change(ada.id, off),
            lambda: notify(kind="announcements", channels=["inapp", "email"]),
        )
        for number in range(ROUNDS)
    ]
    check(results, ("skipped", "Opted out"))


def test_notification_is_read_while_its_delayed_email_is_claimed(
    race: Race, ada: Person, notify: Notify, clock: SteppingClock
) -> None:
    results = []
    for number in range(ROUNDS):
        notify(channels=["inapp", "email"], email_if_unread=1)
        clock.step(minutes=1)
        results.append(race.run(number, lambda: service(Inbox).mark_all(ada.id, True)))
    check(results, ("skipped", "Read before"))
