"""The migration 0032 moves broadcasts that were stored once to the inboxes of their recipients."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.util import pyfiles
from flask import Flask
from sqlalchemy import Engine, event, inspect, text

from app import create_app
from app.core.context import current_frontdesk, service
from app.notifications.inbox import Inbox
from config import Settings

from ..conftest import SECRET
from ..rigs.backends import postgres_database

BEFORE = "0031_shared_broadcasts"
ACCOUNTS = 12
# The second broadcast was sent when there were 10 accounts, of which the newest got a row.
OLD_ROWS = """
INSERT INTO frontdesk_notifications
    (id, title, message, channels, notification_type, scope, receivers, created_at)
VALUES (1, 'first', 'm', '["inapp"]', 'admin', 'account', 9, '2026-01-01 00:00:00+00'),
       (2, 'to one', 'm', '["inapp"]', 'admin', 'account', 1, '2026-01-02 00:00:00+00'),
       (3, 'second', 'm', '["inapp"]', 'admin', 'account', 10, '2026-01-03 00:00:00+00');
INSERT INTO frontdesk_inbox (id, notification_id, receiver_id, is_read)
VALUES (2, 2, 1, false), (4, 3, 10, true);
INSERT INTO frontdesk_shared_broadcasts (item_id, notification_id, through_id)
VALUES (1, 1, 9), (3, 3, 9);
INSERT INTO frontdesk_shared_items (item_id, receiver_id, is_read, is_deleted)
VALUES (1, 1, true, false), (3, 2, true, false), (1, 3, false, true), (3, 3, true, true),
       (1, 4, false, true), (3, 4, false, true), (1, 5, false, false)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'old.db'}"
        return
    with postgres_database(f"frontdesk_moved_{os.getpid()}") as made:
        yield made


@pytest.fixture
def app(url: str) -> Flask:
    """An application with a database that has broadcasts that were stored once."""
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    app = create_app(settings)
    migrate(app, BEFORE)
    with engine_of_app(app).begin() as connection:
        for number in range(1, ACCOUNTS + 1):
            connection.execute(
                text(
                    "INSERT INTO accounts (id, email, status, role, created_at)"
                    f" VALUES ({number}, 'a{number}@example.com', 'active', 'user', '2026-01-01')"
                )
            )
        for statement in OLD_ROWS.split(";"):
            connection.exec_driver_sql(statement)
        if connection.dialect.name == "postgresql":
            inserted = "pg_get_serial_sequence('frontdesk_inbox', 'id')"
            connection.exec_driver_sql(f"SELECT setval({inserted}, 4)")
    return app


def engine_of_app(app: Flask) -> Engine:
    with app.app_context():
        engine: Engine = current_frontdesk.db.engine
    return engine


def migrate(app: Flask, target: str = "head", *, fails: bool = False) -> None:
    result = app.test_cli_runner().invoke(args=["db", "upgrade", target])
    assert (result.exit_code != 0) is fails, f"{result.output}\n{result.exception!r}"


def inbox(app: Flask, receiver: int) -> list[tuple[str, bool]]:
    """Return the title and the state of each item, the newest first. Read by SQL, because the
    service needs columns of a later migration."""
    items = text(
        "SELECT title, is_read FROM frontdesk_inbox i JOIN frontdesk_notifications n"
        " ON n.id = i.notification_id WHERE receiver_id = :receiver ORDER BY i.id DESC"
    )
    with engine_of_app(app).connect() as connection:
        rows = connection.execute(items, {"receiver": receiver})
        return [(title, bool(is_read)) for title, is_read in rows]


def check_moved(app: Flask) -> None:
    assert inbox(app, 1) == [("second", False), ("first", True), ("to one", False)]
    assert inbox(app, 2) == [("second", True), ("first", False)]
    # Deleted by the recipient, or hidden from an account that was imported later.
    assert inbox(app, 3) == inbox(app, 4) == []
    for receiver in range(5, 10):
        assert inbox(app, receiver) == [("second", False), ("first", False)]
    assert inbox(app, 10) == [("second", True)]
    # Created after both broadcasts.
    assert inbox(app, 11) == inbox(app, 12) == []


def test_recipients_get_inbox_rows(app: Flask) -> None:
    migrate(app)
    check_moved(app)
    with app.app_context():
        (item,) = (each for each in service(Inbox).page(5, limit=10) if each["title"] == "first")
    assert item["created_at"].isoformat() == "2026-01-01T00:00:00+00:00"
    tables = inspect(engine_of_app(app)).get_table_names()
    assert not [name for name in tables if "shared" in name]


class Interruption(Exception):
    pass


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move two accounts at once. Alembic loads the migration again for each command."""
    load = pyfiles.load_module_py

    def load_with_small_ranges(*args: Any) -> Any:
        module: Any = load(*args)
        if hasattr(module, "RANGE_SIZE"):
            module.RANGE_SIZE = 2
        return module

    monkeypatch.setattr(pyfiles, "load_module_py", load_with_small_ranges)


def interrupt_after(app: Flask, ranges: int) -> None:
    """Upgrade, and stop before another range than so many is stored."""
    left = iter(range(ranges))

    def stop(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO frontdesk_inbox") and next(left, None) is None:
            raise Interruption

    event.listen(Engine, "before_cursor_execute", stop)
    try:
        migrate(app, fails=True)
    finally:
        event.remove(Engine, "before_cursor_execute", stop)


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize("ranges", [1, 5, 8])
def test_interrupted_move_continues_where_it_stopped(app: Flask, ranges: int) -> None:
    interrupt_after(app, ranges)
    if engine_of_app(app).dialect.name == "postgresql":
        with engine_of_app(app).connect() as connection:
            moved = connection.scalar(text("SELECT count(*) FROM frontdesk_inbox")) - 2
        assert moved > 0
    interrupt_after(app, 1)
    migrate(app)
    check_moved(app)


@pytest.mark.usefixtures("small_ranges")
def test_item_that_is_deleted_after_its_move_is_not_moved_again(app: Flask) -> None:
    if engine_of_app(app).dialect.name == "sqlite":
        # The whole upgrade is one transaction: other connections see no part of it.
        interrupt_after(app, 3)
        assert inbox(app, 9) == []
        return
    interrupt_after(app, 3)
    assert inbox(app, 9) == [("first", False)]
    with engine_of_app(app).begin() as connection:
        connection.exec_driver_sql("DELETE FROM frontdesk_inbox WHERE receiver_id = 9")
    migrate(app)
    assert inbox(app, 9) == [("second", False)]


def test_broadcast_with_deliveries_to_store_is_refused(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    with engine_of_app(app).begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO frontdesk_expansions (notification_id, audience, channels, stored, state,"
            " attempts, due_at, created_at) VALUES (3, '{}', '[\"email\"]', 0, 'pending', 0,"
            " '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00')"
        )
    migrate(app, fails=True)
    assert "Large broadcasts that are not sent completely: 1" in caplog.text
    with engine_of_app(app).begin() as connection:
        connection.exec_driver_sql("DELETE FROM frontdesk_expansions")
    migrate(app)
    check_moved(app)


def test_sql_of_offline_mode_moves_the_items(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["db", "upgrade", "--sql", f"{BEFORE}:head"])
    assert result.exit_code == 0, result.output
    with engine_of_app(app).begin() as connection:
        for statement in result.output.split(";"):
            lines = [line for line in statement.splitlines() if not line.startswith("--")]
            if (sql := "\n".join(lines).strip()) and sql not in ("BEGIN", "COMMIT"):
                connection.exec_driver_sql(sql)
    check_moved(app)


def test_downgrade_restores_the_tables_without_rows(app: Flask) -> None:
    migrate(app)
    result = app.test_cli_runner().invoke(args=["db", "downgrade", BEFORE])
    assert result.exit_code == 0, result.output
    with engine_of_app(app).connect() as connection:
        count = text("SELECT count(*) FROM frontdesk_shared_broadcasts")
        assert connection.scalar(count) == 0
    migrate(app)
    check_moved(app)
