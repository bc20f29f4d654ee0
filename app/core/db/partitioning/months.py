"""Monthly partitions: created ahead, filled from the default partition, and dropped when old."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from ..direct import connect_directly
from ..short_locks import repeat_until_locked
from ..sqlstates import sqlstate
from .copy_table import create_part
from .layouts import (
    default_partition,
    month_bounds,
    month_partition,
    next_month,
    stored_months,
    upcoming_months,
)
from .live_table import LiveTable, find_table
from .names import EVENTS, execute, quoted
from .permissions import copy_permissions

log = logging.getLogger(__name__)

_LOCK = 7_305_731_404
_NO_PERMISSION = "42501"
# The attempts of the daily work to lock the table; the next run tries again.
_ATTEMPTS = 20
# Partitions that end before a moment, except the default partition.
_BEFORE = text(
    "SELECT CAST(CAST(inhrelid AS regclass) AS text) FROM pg_inherits"
    " JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = to_regclass(:table)"
    " AND CAST((regexp_match(pg_get_expr(relpartbound, inhrelid), 'TO \\(''([^'']+)''\\)'))[1]"
    " AS timestamptz) <= :before ORDER BY 1"
)


def missing_months(
    connection: Connection, table: LiveTable, months: Iterable[datetime]
) -> list[datetime]:
    """Return the months without a partition."""
    found = [
        month
        for month in months
        if find_table(connection, table.next_to(month_partition(table.name, month))) is None
    ]
    connection.rollback()
    return found


def create_months(
    connection: Connection,
    table: LiveTable,
    months: Iterable[datetime],
    *,
    move: bool = False,
    attempts: int | None = None,
) -> list[datetime]:
    """Create the partitions of these months; return those that could be created.

    With `move`, rows of the month leave the default partition. Otherwise a month with such rows
    gets no partition.
    """
    created = []
    for month in missing_months(connection, table, months):
        try:
            if _create(connection, table, month, move=move, attempts=attempts):
                created.append(month)
        except IntegrityError:
            connection.rollback()
            log.warning(
                "The default partition of %s has rows of %s, so the month gets no partition. Run"
                " `flask frontdesk partition events --by month` to move the rows.",
                table.name,
                f"{month:%Y-%m}",
            )
    return created


def _create(
    connection: Connection, table: LiveTable, month: datetime, *, move: bool, attempts: int | None
) -> bool:
    part = table.next_to(month_partition(table.name, month))
    default = table.next_to(default_partition(table.name))

    def change() -> None:
        run = partial(execute, connection)
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if find_table(connection, part) is not None:
            connection.commit()  # Another process has created it.
            return
        run(f"SET LOCAL ROLE {quoted(table.owner)}")
        # A table of its own is attached with a weaker lock than CREATE TABLE ... PARTITION OF has.
        create_part(connection, part, table.sql, table)
        if move:
            run(f"LOCK TABLE {default} IN ACCESS EXCLUSIVE MODE")
            columns = table.column_list
            connection.execute(
                text(
                    f"WITH moved AS (DELETE FROM {default} WHERE at >= :start AND at < :end"
                    f" RETURNING {columns}) INSERT INTO {part} ({columns})"
                    f" SELECT {columns} FROM moved"
                ),
                {"start": month, "end": next_month(month)},
            )
        copy_permissions(connection, table.sql, part)
        run(f"ALTER TABLE {table.sql} ATTACH PARTITION {part} {month_bounds(month)}")
        connection.commit()

    return repeat_until_locked(connection, change, attempts=attempts)


def default_months(connection: Connection, table: LiveTable) -> list[datetime]:
    """Return the months of the rows in the default partition."""
    found = list(stored_months(connection, table.next_to(default_partition(table.name))))
    connection.rollback()
    return found


def _drop_months(connection: Connection, table: LiveTable, before: datetime) -> int:
    """Drop the partitions with only rows from before the moment; return the number of rows."""
    parts = connection.scalars(_BEFORE, {"table": table.sql, "before": before}).all()
    connection.rollback()
    total = 0
    for part in parts:
        rows: int = connection.execute(text(f"SELECT count(*) FROM {part}")).scalar_one()
        connection.rollback()

        def drop(part: str = part) -> None:
            execute(connection, f"DROP TABLE IF EXISTS {part}")
            connection.commit()

        if not repeat_until_locked(connection, drop, attempts=_ATTEMPTS):
            break
        total += rows
    return total


def sweep_events(engine: Engine, now: datetime, before: datetime | None) -> int:
    """Do the daily work on a partitioned audit log, a part of `flask frontdesk prune`: create the
    next partitions, and drop those from before a moment.

    Return the number of rows in the dropped partitions.
    """
    from ..postgres import statement_timeout  # imports the driver

    with connect_directly(engine) as direct:
        connection = direct.execution_options(isolation_level="READ COMMITTED")
        table = find_table(connection, EVENTS)
        connection.rollback()
        if table is None or not table.is_partitioned:
            return 0
        try:
            with statement_timeout(connection, None):
                create_months(connection, table, upcoming_months(now), attempts=_ATTEMPTS)
                return 0 if before is None else _drop_months(connection, table, before)
        except ProgrammingError as error:
            connection.rollback()
            if sqlstate(error) != _NO_PERMISSION:
                raise
            log.warning(
                "The partitions of %s belong to another database user: set"
                " CORE__DATABASE_DIRECT_URL to a URL with the user %s.",
                EVENTS,
                table.owner,
            )
            return 0
