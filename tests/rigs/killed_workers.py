"""Kills workers that send delayed emails: `python -m tests.rigs.killed_workers URL 100`.

Each worker is forked from a warm process and killed a few milliseconds after it has claimed a
batch. Before each worker starts, an account reads its inbox. Prints JSON: the emails in the
order in which they were sent, what was read, and the emails that were sent after they were read;
each email is the pair of a notification's and an account's id.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from flask import Flask

from app import Frontdesk, Parts, create_app
from app.accounts.service import Accounts
from app.core.context import service
from app.core.queue import LEASE
from app.delivery.message import Receiver, StoredMessage
from app.delivery.outbox.batches import Batches
from app.delivery.worker import worker as worker_module
from app.delivery.worker.worker import Worker
from app.notifications.inbox import Inbox
from app.testing.clock import SteppingClock
from config import Settings

from .manual_engine import ManualEngine

ACCOUNTS = 20
# The number of kills for each notification.
KILLS_EACH = 4
BATCH_SIZE = 10
SENDING_SECONDS = 0.002
MAX_SECONDS = 0.03

Sent = tuple[int, int]


def main(url: str, times: int) -> None:
    settings: Any = Settings(
        SECRET_KEY="the key of the killed workers, long enough",
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        AUTH={"BCRYPT_ROUNDS": 4},
    )
    clock = SteppingClock()
    app = create_app(settings, parts=Parts(clock=clock, engine=ManualEngine()))
    worker_module.BATCH_SIZE = BATCH_SIZE
    read: set[Sent] = set()
    sent: list[Sent] = []
    late: list[Sent] = []

    def note(found: list[Sent]) -> None:
        sent.extend(found)
        late.extend(each for each in found if each in read)

    with app.app_context():
        people = [
            service(Accounts).create(f"p{number}@example.com", "a long password").id
            for number in range(ACCOUNTS)
        ]
    notifications: list[int] = []
    for number in range(times):
        if number % KILLS_EACH == 0:
            notifications.append(_notify(app))
        clock.step(seconds=61 + LEASE.total_seconds())
        account_id = random.choice(people)
        with app.app_context():
            service(Inbox).mark_all(account_id, True)
        read.update((notification, account_id) for notification in notifications)
        note(_kill_one(app))
    clock.step(seconds=61 + LEASE.total_seconds())
    rest: list[Sent] = []
    _send_with(app, lambda found: rest.append(found))
    with app.app_context():
        service(Worker).drain(["email"])
    note(rest)
    print(json.dumps({"sent": sent, "read": sorted(read), "late": late}))


def _notify(app: Flask) -> int:
    with app.app_context():
        sent = Frontdesk().notify(
            "Hello", "A message.", channels=["inapp", "email"], email_if_unread=1
        )
        assert sent.notification is not None
        return sent.notification.id


def _send_with(app: Flask, note: Callable[[Sent], object]) -> None:
    def send(message: StoredMessage, receiver: Receiver) -> None:
        assert message.subject is not None
        note((message.subject.id, int(str(receiver.id))))

    app.extensions["frontdesk"].hooks.add("channel", send, "email")


def _kill_one(app: Flask) -> list[Sent]:
    """Kill a worker that has claimed a batch, and return what it has sent."""
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _work(app, writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as reports:
        assert reports.readline() == b"claimed\n"
        time.sleep(random.uniform(0, MAX_SECONDS))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        lines = [line.split() for line in reports.read().splitlines() if line != b"claimed"]
    return [(int(notification), int(account)) for notification, account in lines]


def _work(app: Flask, reports: int) -> None:
    claim = Batches.claim

    def claim_and_report(batches: Batches, channel: str, most: int) -> Any:
        batch = claim(batches, channel, most)
        if batch is not None:
            os.write(reports, b"claimed\n")
        return batch

    def send(found: Sent) -> None:
        os.write(reports, b"%d %d\n" % found)
        time.sleep(SENDING_SECONDS)

    Batches.claim = claim_and_report  # type: ignore[method-assign, assignment]
    _send_with(app, send)
    with app.app_context():
        while True:
            service(Worker).work("email")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
