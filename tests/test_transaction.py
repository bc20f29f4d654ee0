from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.core.desk import EXTENSION, Desk
from app.core.transaction import after_commit, after_rollback, transaction
from app.tasks.models import Task


@pytest.fixture
def desk(app: Flask) -> Desk:
    found = app.extensions[EXTENSION]
    assert isinstance(found, Desk)
    return found


@pytest.fixture(autouse=True)
def _in_context(app: Flask) -> object:
    with app.app_context():
        yield


@contextmanager
def failed_transaction(desk: Desk) -> Iterator[None]:
    with pytest.raises(LookupError), transaction(desk.session):  # noqa: PT012
        yield
        raise LookupError


def task(title: str | None = "x") -> Task:
    return Task(title=title, done=False, priority="normal", owner="ada")


def stored(desk: Desk) -> int:
    desk.session.rollback()
    return desk.session.execute(select(func.count()).select_from(Task)).scalar_one()


def test_what_is_written_is_stored_at_the_end(desk: Desk) -> None:
    with transaction(desk.session):
        desk.session.add(task())
    assert stored(desk) == 1


def test_an_error_takes_all_of_it_back(desk: Desk) -> None:
    with failed_transaction(desk):
        desk.session.add(task())
        desk.session.flush()
    assert stored(desk) == 0


def test_an_inner_transaction_is_part_of_the_outer(desk: Desk) -> None:
    with failed_transaction(desk), transaction(desk.session):
        desk.session.add(task())
    assert stored(desk) == 0


def test_two_transactions_follow_each_other(desk: Desk) -> None:
    for _ in range(2):
        with transaction(desk.session):
            desk.session.add(task())
    assert stored(desk) == 2


def test_a_transaction_may_follow_a_failed_one(desk: Desk) -> None:
    with pytest.raises(IntegrityError), transaction(desk.session):
        desk.session.add(task(title=None))
    with transaction(desk.session):
        desk.session.add(task())
    assert stored(desk) == 1


def test_what_leaves_the_process_leaves_after_the_commit(desk: Desk) -> None:
    seen: list[int] = []
    with transaction(desk.session):
        desk.session.add(task())
        after_commit(desk.session, lambda: seen.append(stored(desk)))
        assert seen == []
    assert seen == [1]


def test_nothing_leaves_the_process_when_the_transaction_fails(desk: Desk) -> None:
    told: list[str] = []
    with failed_transaction(desk):
        after_commit(desk.session, lambda: told.append("commit"))
        after_rollback(desk.session, lambda: told.append("rollback"))
    assert told == ["rollback"]


def test_nothing_is_taken_back_when_it_succeeds(desk: Desk) -> None:
    told: list[str] = []
    with transaction(desk.session):
        after_rollback(desk.session, lambda: told.append("rollback"))
    assert told == []


def test_actions_of_an_inner_transaction_wait_for_the_outer(desk: Desk) -> None:
    told: list[str] = []
    with transaction(desk.session):
        with transaction(desk.session):
            after_commit(desk.session, lambda: told.append("inner"))
        assert told == []
    assert told == ["inner"]


def test_an_action_that_fails_is_logged_and_stops_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(
        logging.getLogger("app.core.transaction"), "exception", lambda text: logged.append(text)
    )
    told: list[str] = []

    def fail() -> None:
        raise OSError

    with transaction(desk.session):
        after_commit(desk.session, fail)
        after_commit(desk.session, lambda: told.append("second"))
    assert told == ["second"]
    assert logged == ["An action after the transaction failed"]


def test_an_action_may_open_a_transaction_of_its_own(desk: Desk) -> None:
    def another() -> None:
        with transaction(desk.session):
            desk.session.add(task("second"))

    with transaction(desk.session):
        desk.session.add(task("first"))
        after_commit(desk.session, another)
    assert stored(desk) == 2


def test_an_action_needs_a_transaction_around_it(desk: Desk) -> None:
    with pytest.raises(RuntimeError, match="needs an open transaction"):
        after_commit(desk.session, lambda: None)
