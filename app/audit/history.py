"""Counts audit log entries by hour. Only the newest entries are read, so the cost is limited."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, String, case, func, select, type_coerce

from ..core.audit_log.models import AuditEntry
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
    hour = _hour(newest.c.at, session.get_bind().dialect.name)
    counted = select(hour.label("hour"), kind.label("kind"), func.count()).group_by("hour", "kind")
    hours: dict[datetime, dict[str, int]] = {}
    total = 0
    for at, name, count in session.execute(counted):
        total += count
        hours.setdefault(_read(at), {})[name] = count
    is_complete = total < most
    # With too many entries, the first hour is where the newest entries begin.
    return EventHistory(hours, since if is_complete else min(hours), is_complete)


def _hour(at: object, dialect: str) -> ColumnElement[Any]:
    if dialect == "postgresql":
        return func.date_trunc("hour", func.timezone("UTC", at))
    return func.substr(type_coerce(at, String), 1, 13)


def _read(hour: datetime | str) -> datetime:
    found = hour if isinstance(hour, datetime) else datetime.fromisoformat(hour)
    return found.replace(tzinfo=UTC)
