"""How often something happened, hour by hour: of the newest records alone, so that it costs as much
however many there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, String, case, func, select, type_coerce

from ..core.audit_log.models import AuditEntry
from ..core.db.transaction import AnySession

MOST = 10_000
_OTHER = ""


@dataclass(frozen=True)
class EventHistory:
    """By the hour, and by the type within it."""

    hours: Mapping[datetime, Mapping[str, int]]
    # From where on all are counted: the moment that was asked for, unless there were too many.
    since: datetime
    is_whole: bool

    def total(self, name: str) -> int:
        return sum(counts.get(name, 0) for counts in self.hours.values())


def happened(
    session: AnySession, types: Collection[str], since: datetime, most: int = MOST
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
    is_whole = total < most
    # What lies before the first whole hour was left out.
    return EventHistory(hours, since if is_whole else min(hours), is_whole)


def _hour(at: object, dialect: str) -> ColumnElement[Any]:
    if dialect == "postgresql":
        return func.date_trunc("hour", func.timezone("UTC", at))
    return func.substr(type_coerce(at, String), 1, 13)


def _read(hour: datetime | str) -> datetime:
    found = hour if isinstance(hour, datetime) else datetime.fromisoformat(hour)
    return found.replace(tzinfo=UTC)
