from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.accounts.errors import EmailTaken
from app.accounts.service import Accounts
from app.core.context import EXTENSION, Context
from app.core.db.transaction import after_commit, after_rollback, transaction
from app.tasks.models import Task


@pytest.fixture
def context(app: Flask) -> Context:
    found = app.extensions[EXTENSION]
    assert isinstance(found, Context)
    return found


@pytest.fixture(autouse=True)
def _in_context(app: Flask) -> object:
    with app.app_context():
        yield


@contextmanager
def failed_transaction(context: Context) -> Iterator[None]:
    with pytest.raises(LookupError), transaction(context.session):  # noqa: PT012
        yield
        raise LookupError


def task(title: str | None = "x") -> Task:
    return Task(title=title, done=False, priority="normal", owner="ada")


def stored(context: Context) -> int:
    context.session.rollback()
    return context.session.execute(select(func.count()).select_from(Task)).scalar_one()


def test_changes_are_stored_at_the_end(context: Context) -> None:
    with transaction(context.session):
        context.session.add(task())
    assert stored(context) == 1


def test_error_rolls_everything_back(context: Context) -> None:
    with failed_transaction(context):
        context.session.add(task())
        context.session.flush()
    assert stored(context) == 0


def test_inner_transaction_is_part_of_the_outer(context: Context) -> None:
    with failed_transaction(context), transaction(context.session):
        context.session.add(task())
    assert stored(context) == 0


def test_transactions_can_follow_each_other(context: Context) -> None:
    for _ in range(2):
        with transaction(context.session):
            context.session.add(task())
    assert stored(context) == 2


def test_transaction_can_follow_a_failed_one(context: Context) -> None:
    with pytest.raises(IntegrityError), transaction(context.session):
        context.session.add(task(title=None))
    with transaction(context.session):
        context.session.add(task())
    assert stored(context) == 1


def test_after_commit_runs_after_the_commit(context: Context) -> None:
    seen: list[int] = []
    with transaction(context.session):
        context.session.add(task())
        after_commit(context.session, lambda: seen.append(stored(context)))
        assert seen == []
    assert seen == [1]


def test_failed_transaction_runs_only_after_rollback(context: Context) -> None:
    calls: list[str] = []
    with failed_transaction(context):
        after_commit(context.session, lambda: calls.append("commit"))
        after_rollback(context.session, lambda: calls.append("rollback"))
    assert calls == ["rollback"]


def test_successful_transaction_runs_no_after_rollback(context: Context) -> None:
    calls: list[str] = []
    with transaction(context.session):
        after_rollback(context.session, lambda: calls.append("rollback"))
    assert calls == []


def test_actions_of_an_inner_transaction_wait_for_the_outer(context: Context) -> None:
    calls: list[str] = []
    with transaction(context.session):
        with transaction(context.session):
            after_commit(context.session, lambda: calls.append("inner"))
        assert calls == []
    assert calls == ["inner"]


def test_failed_action_is_logged_and_stops_no_other(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(
        logging.getLogger("app.core.db.transaction"), "exception", lambda text: logged.append(text)
    )
    calls: list[str] = []

    def fail() -> None:
        raise OSError

    with transaction(context.session):
        after_commit(context.session, fail)
        after_commit(context.session, lambda: calls.append("second"))
    assert calls == ["second"]
    assert logged == ["An action after the transaction failed"]


def test_action_can_open_a_transaction(context: Context) -> None:
    def another() -> None:
        with transaction(context.session):
            context.session.add(task("second"))

    with transaction(context.session):
        context.session.add(task("first"))
        after_commit(context.session, another)
    assert stored(context) == 2


def test_action_needs_an_open_transaction(context: Context) -> None:
    with pytest.raises(RuntimeError, match="needs an open transaction"):
        after_commit(context.session, lambda: None)


def fail_in_part(context: Context) -> None:
    def write() -> None:
        with transaction(context.session, may_fail=True):
            context.session.add(task(title=None))
            context.session.flush()

    with pytest.raises(IntegrityError):
        write()


def test_failed_savepoint_rolls_back_nothing_else(context: Context) -> None:
    with transaction(context.session):
        context.session.add(task("before"))
        fail_in_part(context)
        context.session.add(task("after"))
    assert stored(context) == 2


def test_successful_savepoint_is_rolled_back_with_the_transaction(context: Context) -> None:
    with failed_transaction(context), transaction(context.session, may_fail=True):
        context.session.add(task())
    with failed_transaction(context):
        with transaction(context.session, may_fail=True):
            context.session.add(task())
        context.session.add(task())
    assert stored(context) == 0


def test_actions_of_a_savepoint_share_its_outcome(context: Context) -> None:
    done: list[str] = []

    def part(name: str, *, fails: bool) -> None:
        with transaction(context.session, may_fail=True):
            after_commit(context.session, lambda: done.append(f"{name} committed"))
            after_rollback(context.session, lambda: done.append(f"{name} rolled back"))
            if fails:
                raise LookupError

    with transaction(context.session):
        part("first", fails=False)
        with pytest.raises(LookupError):
            part("second", fails=True)
        assert done == ["second rolled back"]
    assert done == ["second rolled back", "first committed"]
    with failed_transaction(context):
        part("third", fails=False)
    assert done[2:] == ["third rolled back"]


def test_taken_email_leaves_the_transaction_usable(context: Context) -> None:
    accounts = context.get(Accounts)
    with transaction(context.session):
        ada = accounts.create("ada@example.com", None)
        with pytest.raises(EmailTaken):
            accounts.create("ADA@example.com", None)
        grace = accounts.create("grace@example.com", None)
        with pytest.raises(EmailTaken):
            accounts.change(grace, email=ada.email)
        accounts.change(grace, role="admin")
    context.session.expire_all()
    assert [(each.email, each.role) for each in accounts.all()] == [
        ("ada@example.com", "user"),
        ("grace@example.com", "admin"),
    ]
