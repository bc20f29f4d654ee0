"""Checks of tables that are large enough for partitions, or that have partitions."""

from collections.abc import Iterator

from flask import current_app
from sqlalchemy import Connection, text

from ..core.context import current_frontdesk
from ..core.db.partitioning.layouts import default_partition, upcoming_months
from ..core.db.partitioning.live_table import LiveTable, find_table
from ..core.db.partitioning.months import missing_months
from ..core.db.partitioning.names import EVENTS, INBOX, work_tables
from ..core.doctor import Finding

# From this size on, vacuum and the indexes of one table become slow.
MAX_INBOX_ROWS = 100_000_000
COUNT_SECONDS = 60.0


def check_partitions() -> Iterator[Finding]:
    engine = current_app.extensions["sqlalchemy"].engine
    if engine.dialect.name != "postgresql":
        return
    with engine.connect() as connection:
        for name, command in (
            (INBOX, "flask frontdesk partition inbox"),
            (EVENTS, "flask frontdesk partition events --by month"),
        ):
            table = find_table(connection, name)
            if table is None:
                continue  # The check of the migrations reports the missing table.
            yield from _unfinished(connection, table, command)
            if table.is_partitioned and name == EVENTS:
                yield from _months(connection, table, command)
            elif not table.is_partitioned and name == INBOX and table.rows > MAX_INBOX_ROWS:
                yield Finding(
                    "partitions",
                    "warning",
                    f"The inbox has about {table.rows:,} rows in one table. Run `{command}` to"
                    " divide it into partitions while the application runs.",
                )


def _unfinished(connection: Connection, table: LiveTable, command: str) -> Iterator[Finding]:
    names = work_tables(table.name)
    former, copy = (
        find_table(connection, table.next_to(name)) for name in (names.former, names.copy)
    )
    if former is not None and former.is_marked:
        yield Finding(
            "partitions",
            "warning",
            f"The table {names.former} from before the partitions still exists. Run `{command}`"
            " to drop it.",
        )
    elif copy is not None and copy.is_marked:
        yield Finding(
            "partitions",
            "warning",
            f"{table.name} is being partitioned, which makes writes slower. If no such command"
            f" runs, run `{command}` to continue, or the same with --abort.",
        )


def _months(connection: Connection, table: LiveTable, command: str) -> Iterator[Finding]:
    if count := _count_default(connection, table):
        yield Finding(
            "partitions",
            "warning",
            f"Rows of {table.name} without a partition of their month: {count:,}, in"
            f" {default_partition(table.name)}. Run `{command}` to move them, and"
            " `flask frontdesk prune` once a day to create partitions in time. Entries dated"
            " more than two months ahead come from a server with a wrong clock and stay in the"
            " default partition.",
        )
    current_and_next = upcoming_months(current_frontdesk.clock.now())[:2]
    if missing := missing_months(connection, table, current_and_next):
        months = ", ".join(f"{month:%Y-%m}" for month in missing)
        yield Finding(
            "partitions",
            "warning",
            f"{table.name} has no partition for {months}. Run `flask frontdesk prune` once a day.",
        )


def _count_default(connection: Connection, table: LiveTable) -> int:
    default = table.next_to(default_partition(table.name))
    if find_table(connection, default) is None:
        return 0
    from ..core.db.postgres import statement_timeout  # imports the driver

    with statement_timeout(connection, COUNT_SECONDS):
        count = text(f"SELECT count(*) FROM {default}")  # noqa: S608
        return int(connection.execute(count).scalar_one())
