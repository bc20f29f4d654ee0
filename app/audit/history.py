"""Counts audit log entries, or rows of another table, by hour. Only the newest are read, so the
cost is limited."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, String, case, func, literal, select, type_coerce

from ..core.audit_log.models import AuditEntry
from ..core.db.base import UtcDateTime, timestamp_literal
from ..core.db.transaction import AnySession

MAX_ENTRIES = 10_000
_OTHER = ""


@dataclass(frozen=True)
class EventHistory:
    """The number of entries by hour and type."""

    hours: Mapping[datetime, Mapping[str, int]]
    # The start of the counted time: the requested one, or a later one with too many entries.
    since: datetime
    is_complete: bool

    def total(self, name: str) -> int:
        return sum(counts.get(name, 0) for counts in self.hours.values())


def count_by_hour(
    session: AnySession, types: Collection[str], since: datetime, most: int = MAX_ENTRIES
) -> EventHistory:
    newest = (
        select(AuditEntry.type, AuditEntry.at)
        .where(AuditEntry.at >= since)
        .order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
        .limit(most)
        .subquery()
    )
    kind = case((newest.c.type.in_(types), newest.c.type), else_=_OTHER)
    return _count(session, newest.c.at, kind, since, most)


def count_rows_by_hour(
    session: AnySession, at: ColumnElement[Any], name: str, since: datetime, most: int = MAX_ENTRIES
) -> EventHistory:
    """Count the rows of another table by one of its columns, as entries of the type `name`."""
    newest = (
        select(at.label("at"))
        .where(at >= timestamp_literal(at, since))
        .order_by(at.desc())
        .limit(most)
        .subquery()
    )
    return _count(session, newest.c.at, literal(name), since, most)


def _count(
    session: AnySession,
    at: ColumnElement[Any],
    kind: ColumnElement[str],
    since: datetime,
    most: int,
) -> EventHistory:
    hour = _hour(at, session.get_bind().dialect.name)
    counted = select(hour.label("hour"), kind.label("kind"), func.count()).group_by("hour", "kind")
    hours: dict[datetime, dict[str, int]] = {}
    total = 0
    for start, name, count in session.execute(counted):
        total += count
        hours.setdefault(_read(start), {})[name] = count
    is_complete = total < most
    # With too many entries, the first hour is where the newest entries begin.
    return EventHistory(hours, since if is_complete else min(hours), is_complete)


def _hour(at: ColumnElement[Any], dialect: str) -> ColumnElement[Any]:
    if dialect == "postgresql":
        has_offset = isinstance(at.type, UtcDateTime) or getattr(at.type, "timezone", False)
        return func.date_trunc("hour", func.timezone("UTC", at) if has_offset else at)
    return func.substr(type_coerce(at, String), 1, 13)


def _read(hour: datetime | str) -> datetime:
    found = hour if isinstance(hour, datetime) else datetime.fromisoformat(hour)
    return found.replace(tzinfo=UTC)
