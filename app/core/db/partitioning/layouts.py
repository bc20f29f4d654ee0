"""How each table is divided: the inbox by recipient, the audit log by month."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, text

from .live_table import LiveTable
from .names import EVENTS, INBOX

# How many months after the current one have a partition.
MONTHS_AHEAD = 2


@dataclass(frozen=True)
class Layout:
    table: str
    # The column that decides on the partition of a row. It belongs to every unique key.
    column: str
    # As in PARTITION BY.
    method: str
    # Yields the names of the partitions that the table needs, with their bounds.
    partitions: Callable[[Connection, LiveTable], Iterable[tuple[str, str]]]
    # The number of partitions, if the layout decides on it.
    parts: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The primary key. The ids come from one sequence, so each is in one row."""
        return ("id", self.column)


def inbox_layout(parts: int) -> Layout:
    def partitions(_connection: Connection, _table: LiveTable) -> Iterator[tuple[str, str]]:
        width = len(str(parts - 1))
        for part in range(parts):
            yield (
                f"{INBOX}_p{part:0{width}}",
                f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})",
            )

    return Layout(INBOX, "receiver_id", "HASH", partitions, parts)


def events_layout(now: datetime) -> Layout:
    def partitions(connection: Connection, table: LiveTable) -> Iterator[tuple[str, str]]:
        yield default_partition(EVENTS), "DEFAULT"
        for month in sorted({*upcoming_months(now), *stored_months(connection, table.sql)}):
            # Later entries come from a server with a wrong clock.
            if month <= upcoming_months(now)[-1]:
                yield month_partition(EVENTS, month), month_bounds(month)

    return Layout(EVENTS, "at", "RANGE", partitions)


def default_partition(table: str) -> str:
    return f"{table}_default"


def month_partition(table: str, month: datetime) -> str:
    return f"{table}_y{month:%Y}m{month:%m}"


def month_bounds(month: datetime) -> str:
    return f"FOR VALUES FROM ('{month.isoformat()}') TO ('{next_month(month).isoformat()}')"


def month_of(moment: datetime) -> datetime:
    moment = moment.astimezone(UTC)
    return datetime(moment.year, moment.month, 1, tzinfo=UTC)


def next_month(month: datetime) -> datetime:
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)


def upcoming_months(now: datetime) -> list[datetime]:
    months = [month_of(now)]
    for _ in range(MONTHS_AHEAD):
        months.append(next_month(months[-1]))
    return months


def stored_months(connection: Connection, table: str) -> Iterator[datetime]:
    """Yield the months that have rows, with one read of the index for each."""
    first = f"SELECT at FROM {table} WHERE at >= :since ORDER BY at LIMIT 1"
    since = datetime(1, 1, 1, tzinfo=UTC)
    while (found := connection.scalar(text(first), {"since": since})) is not None:
        yield (month := month_of(found))
        since = next_month(month)
