"""The admin's first page: what needs attention, and how the last days were."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Response

from ...accounts.service import Accounts
from ...administration.search import estimate
from ...audit.history import EventHistory, count_by_hour
from ...audit.settings import AuditSettings
from ...auth.decorators import active_account_required, roles_required
from ...core.context import current_frontdesk, service
from ...core.web.operation import hidden
from ...delivery.outbox.statistics import count_backlog, count_recent
from ...doctor.checks import LONGEST_WAIT, QUICK, findings
from ..navigation import ADMINS
from ..page_globals import zone
from ..pages import page

DAYS = 14
IN, REFUSED, MADE = "login.succeeded", "login.failed", "account.created"
_DAY = timedelta(days=1)
# Where even one day has more records than are looked at, its hours say more than one bar.
_LEAST_DAYS = timedelta(days=2)


@active_account_required
@roles_required(*ADMINS)
@hidden
def admin_home_page() -> Response:
    session, now = current_frontdesk.session, current_frontdesk.clock.now()
    queue = count_backlog(session)
    age = now - queue.oldest if queue.oldest else timedelta()
    ended = count_recent(session, now - _DAY)
    history = count_by_hour(session, (IN, REFUSED, MADE), _begin(now))
    found = findings(QUICK)
    return page(
        "admin/home.html",
        queue=queue,
        age_minutes=int(age.total_seconds() // 60),
        is_late=age > LONGEST_WAIT,
        ended=ended,
        findings=sorted(found, key=lambda each: each.level != "fault"),
        accounts=estimate(session, service(Accounts).model),
        history=history,
        has_records=current_frontdesk.settings.of(AuditSettings).EVENTS,
        sign_ins=list(_points(history, now, IN, REFUSED)),
        made=list(_points(history, now, MADE)),
        totals={name: history.total(name) for name in (IN, REFUSED, MADE)},
        names=(IN, REFUSED, MADE),
    )


def _begin(now: datetime) -> datetime:
    """Of the first day, on the reader's clock."""
    here = now.astimezone(zone() or UTC)
    first = (here - (DAYS - 1) * _DAY).replace(hour=0, minute=0, second=0, microsecond=0)
    return first.astimezone(UTC)


def _points(history: EventHistory, now: datetime, *names: str) -> Iterator[tuple[Any, ...]]:
    """For each day, or each hour where only the last ones were counted."""
    here = zone() or UTC
    by_hour = not history.is_complete and now - history.since < _LEAST_DAYS
    shape = "%-d %b, %H:00" if by_hour else "%-d %b"
    step = timedelta(hours=1) if by_hour else _DAY
    sums: dict[str, list[int]] = {}
    at = history.since.astimezone(here)
    while at.astimezone(UTC) <= now:
        sums.setdefault(at.strftime(shape), [0] * len(names))
        at += step
    sums.setdefault(now.astimezone(here).strftime(shape), [0] * len(names))
    for hour, counts in history.hours.items():
        point = sums.get(hour.astimezone(here).strftime(shape))
        for index, name in enumerate(names):
            if point is not None:
                point[index] += counts.get(name, 0)
    for label, point in sums.items():
        yield (label, *point)
