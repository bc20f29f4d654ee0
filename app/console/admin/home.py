"""The overview for admins: open problems, and sign-ins and new accounts of the last days."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Response

from ...accounts.service import Accounts
from ...administration.search import estimate
from ...audit.history import EventHistory, count_by_hour, count_rows_by_hour
from ...audit.settings import AuditSettings
from ...auth.decorators import active_account_required, roles_required
from ...core.context import current_frontdesk, service
from ...core.web.operation import hidden
from ...delivery.outbox.statistics import count_backlog, count_recent
from ...doctor.checks import LONGEST_WAIT, QUICK, findings
from ..navigation import ADMINS
from ..page_globals import zone
from ..pages import render_page
from ..texts import DAY_AND_TIME, _, format_day_of_year

DAYS = 14
SIGN_IN, FAILED_SIGN_IN, ACCOUNT_CREATED = "login.succeeded", "login.failed", "account.created"
_DAY = timedelta(days=1)
# If the history covers less than this, the charts show hours instead of days.
_HOURLY_BELOW = timedelta(days=2)


@active_account_required
@roles_required(*ADMINS)
@hidden
def admin_home_page() -> Response:
    session, now = current_frontdesk.session, current_frontdesk.clock.now()
    queue = count_backlog(session)
    age = now - queue.oldest if queue.oldest else timedelta()
    ended = count_recent(session, now - _DAY)
    start = _start_of_first_day(now)
    history = count_by_hour(session, (SIGN_IN, FAILED_SIGN_IN), start)
    model = service(Accounts).model
    # Imported accounts have no event.
    created = count_rows_by_hour(session, model.created_at, ACCOUNT_CREATED, start)
    found = findings(QUICK)
    return render_page(
        "admin/home.html",
        queue=queue,
        age_minutes=int(age.total_seconds() // 60),
        is_late=age > LONGEST_WAIT,
        ended=ended,
        findings=sorted(found, key=lambda each: each.level != "fault"),
        accounts=estimate(session, model),
        history=history,
        since=_first_day(history),
        created_history=created,
        created_since=_first_day(created),
        has_audit_log=current_frontdesk.settings.of(AuditSettings).EVENTS,
        sign_ins=list(_points(history, now, SIGN_IN, FAILED_SIGN_IN)),
        created=list(_points(created, now, ACCOUNT_CREATED)),
        totals={
            **{name: history.total(name) for name in (SIGN_IN, FAILED_SIGN_IN)},
            ACCOUNT_CREATED: created.total(ACCOUNT_CREATED),
        },
        names=(SIGN_IN, FAILED_SIGN_IN, ACCOUNT_CREATED),
    )


def _start_of_first_day(now: datetime) -> datetime:
    """Return the start of the first day in the reader's time zone."""
    here = now.astimezone(zone() or UTC)
    first = (here - (DAYS - 1) * _DAY).replace(hour=0, minute=0, second=0, microsecond=0)
    return first.astimezone(UTC)


def _first_day(history: EventHistory) -> str:
    """Return the first counted day, for the filter of a list."""
    return history.since.astimezone(zone() or UTC).date().isoformat()


def _points(history: EventHistory, now: datetime, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the numbers of each day, or of each hour if the history is short."""
    here = zone() or UTC
    by_hour = not history.is_complete and now - history.since < _HOURLY_BELOW
    format_label: Callable[[datetime], str] = _hour if by_hour else format_day_of_year
    step = timedelta(hours=1) if by_hour else _DAY
    sums: dict[str, list[int]] = {}
    at = history.since.astimezone(here)
    while at.astimezone(UTC) <= now:
        sums.setdefault(format_label(at), [0] * len(names))
        at += step
    sums.setdefault(format_label(now.astimezone(here)), [0] * len(names))
    for hour, counts in history.hours.items():
        point = sums.get(format_label(hour.astimezone(here)))
        for index, name in enumerate(names):
            if point is not None:
                point[index] += counts.get(name, 0)
    for label, point in sums.items():
        yield (label, *point)


def _hour(at: datetime) -> str:
    return _(DAY_AND_TIME, date=format_day_of_year(at), time=at.strftime("%H:00"))
