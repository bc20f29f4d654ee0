"""Leased jobs, tested with the table of data exports."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.context import current_frontdesk
from app.core.db.transaction import transaction
from app.core.queue import LEASE, Claim, LeasedQueue
from app.exports.making import export_queue
from app.exports.models import PENDING, READY, AccountExport
from app.testing.clock import SteppingClock

from ..conftest import Person

WORKERS = 8

Put = Callable[[int], list[int]]


@pytest.fixture
def queue(app: Flask, clock: SteppingClock) -> LeasedQueue:
    with app.app_context():
        return export_queue(app.extensions["sqlalchemy"].engine, clock)


@pytest.fixture
def put(app: Flask, ada: Person, clock: SteppingClock) -> Put:
    def put(count: int) -> list[int]:
        now = clock.now()
        with app.app_context(), transaction(session := current_frontdesk.session):
            jobs = [
                AccountExport(account_id=ada.id, state=PENDING, due_at=now, created_at=now)
                for _ in range(count)
            ]
            session.add_all(jobs)
            session.flush()
            return [job.id for job in jobs]

    return put


def attempts(app: Flask, job_id: int) -> int:
    with app.app_context():
        wanted = select(AccountExport.attempts).where(AccountExport.id == job_id)
        return int(current_frontdesk.session.scalars(wanted).one())


def claimed(queue: LeasedQueue) -> Claim:
    claim = queue.claim(1)
    assert claim is not None
    return claim


def test_each_job_is_claimed_by_one_of_many_workers(queue: LeasedQueue, put: Put) -> None:
    ids = put(20)
    barrier = Barrier(WORKERS)

    def work(_: int) -> list[int]:
        barrier.wait()
        found: list[int] = []
        while (wait := queue.seconds_until_due()) is not None and wait <= 0:
            claim = queue.claim(3)
            found += [row.id for row in claim.rows] if claim else []
        return found

    with ThreadPoolExecutor(WORKERS) as pool:
        taken = [job for found in pool.map(work, range(WORKERS)) for job in found]
    assert sorted(taken) == ids


def test_job_of_a_dead_worker_is_due_when_its_lease_ends(
    queue: LeasedQueue, put: Put, clock: SteppingClock
) -> None:
    [job] = put(1)
    dead = claimed(queue)
    assert queue.claim(1) is None
    clock.step(seconds=LEASE.total_seconds() - 1)
    queue.renew(dead.token, [job])
    clock.step(seconds=LEASE.total_seconds() - 1)
    assert queue.claim(1) is None
    clock.step(seconds=1)
    other = claimed(queue)
    assert not queue.finish(dead.token, job, state=READY)
    assert queue.finish(other.token, job, state=READY)
    assert queue.seconds_until_due() is None


def test_postponed_job_counts_its_attempt_and_one_given_back_does_not(
    app: Flask, queue: LeasedQueue, put: Put, clock: SteppingClock
) -> None:
    [job] = put(1)
    queue.postpone(claimed(queue).token, [job], 60)
    assert queue.seconds_until_due() == pytest.approx(60, abs=5)
    assert attempts(app, job) == 1
    clock.step(seconds=60)
    queue.give_back(claimed(queue).token, [job])
    assert queue.seconds_until_due() == pytest.approx(0, abs=5)
    assert attempts(app, job) == 1
