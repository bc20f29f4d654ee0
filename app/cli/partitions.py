"""`flask frontdesk partition`."""

import click
from sqlalchemy import Connection

from ..core.context import find_context
from ..core.db.partitioning.layouts import Layout, events_layout, inbox_layout, upcoming_months
from ..core.db.partitioning.live_table import LiveTable
from ..core.db.partitioning.names import EVENTS
from .frontdesk import group as group
from .terminal import confirm, json_option, print_text, progress, yes_option

DEFAULT_PARTS = 32
MAX_PARTS = 1_000


@group.command("partition")
@click.argument("table", type=click.Choice(["inbox", "events"]))
@click.option(
    "--parts",
    type=click.IntRange(2, MAX_PARTS),
    help=f"Number of partitions of the inbox, {DEFAULT_PARTS} by default.",
)
@click.option("--by", type=click.Choice(["month"]), help="Period of a partition of the events.")
@click.option(
    "--offline", is_flag=True, help="Copy the table in one transaction while it is locked (faster)."
)
@click.option("--abort", is_flag=True, help="Remove the copy of an interrupted run.")
@yes_option
@json_option
def partition(table: str, parts: int | None, by: str | None, offline: bool, abort: bool) -> None:
    """Divide the inbox or the audit log into partitions of PostgreSQL.

    TABLE is `inbox` or `events`, the audit log. The inbox is divided by recipient, the events by
    month, in UTC. The rows are copied while
    the application runs, in short transactions. To continue an interrupted run, run the command
    again. The table exists twice until the end, so the disk needs as much free space as the table
    has. For an audit log with partitions, the command creates missing partitions and moves the rows
    of the default partition to them.

    \b
    Examples:
      flask frontdesk partition inbox --parts 32
      flask frontdesk partition events --by month
    """
    if table == "inbox" and by is not None:
        raise click.UsageError("--by is for events.")
    if table == "events" and parts is not None:
        raise click.UsageError("--parts is for the inbox.")
    if abort and offline:
        raise click.UsageError("--offline leaves nothing to abort.")
    # Imported here, because SQLite needs no driver.
    from ..core.db.partitioning.command import find_own_table, partitioning_session

    context = find_context()
    is_inbox, now = table == "inbox", context.clock.now()
    layout = inbox_layout(parts or DEFAULT_PARTS) if is_inbox else events_layout(now)
    with partitioning_session(context.db.engine) as connection:
        live = find_own_table(connection, layout.table)
        if abort:
            _abort(connection, live, layout)
        elif live.is_partitioned:
            _maintain(connection, live, layout, parts)
        else:
            _partition(connection, live, layout, offline)


def _abort(connection: Connection, table: LiveTable, layout: Layout) -> None:
    from ..core.db.partitioning import command

    confirm(f"Delete the unfinished copy of {table.name}?")
    command.abort(connection, table, layout)
    print_text(f"{table.name} is not partitioned.", {"table": table.name, "partitions": 0})


def _partition(connection: Connection, table: LiveTable, layout: Layout, offline: bool) -> None:
    from ..core.db.partitioning import command

    size = f"about {table.rows:,} rows, {table.size / 2**30:.1f} GiB"
    effect = "locked until the end" if offline else "copied while the application runs"
    confirm(f"{table.name} ({size}) is {effect}. Continue?")
    if offline:
        command.partition_offline(connection, table, layout)
    else:
        copying = command.begin_online(connection, table, layout)
        with progress("Copying rows", copying.remaining) as advance:
            command.partition_online(copying, advance)
    _report(connection, table)


def _maintain(connection: Connection, table: LiveTable, layout: Layout, parts: int | None) -> None:
    from ..core.db.partitioning import command
    from ..core.db.partitioning.months import create_months, default_months

    command.drop_former(connection, table)
    count = command.count_partitions(connection, table)
    if parts not in (None, count):
        raise click.ClickException(
            f"{table.name} has {count} partitions already, and their number cannot be changed."
        )
    command.restore_permissions(connection, table)
    if table.name == EVENTS:
        upcoming = upcoming_months(find_context().clock.now())
        filled = [each for each in default_months(connection, table) if each <= upcoming[-1]]
        create_months(connection, table, sorted({*filled, *upcoming}), move=True)
    _report(connection, table)


def _report(connection: Connection, table: LiveTable) -> None:
    from ..core.db.partitioning.command import count_partitions

    count = count_partitions(connection, table)
    report = {"table": table.name, "partitions": count}
    print_text(f"{table.name} has {count} partitions.", report)
