"""The overview for admins: open problems, and figures of a period."""

from datetime import timedelta
from typing import TypedDict

from flask import Response

from ...accounts.service import Accounts
from ...core.context import current_frontdesk, service
from ...core.db.estimates import estimate
from ...core.queue import LONGEST_WAIT
from ...core.web.fields import RequestSchema
from ...core.web.request_data import takes
from ...delivery.outbox.statistics import Backlog, count_backlog, count_failures
from ...doctor.checks import find_problems_quickly, title
from ..pages import render_page
from ..resources import ConsoleResources
from .checklist import checklist
from .figures import Figures
from .filters import admins_only
from .periods import find_period, period_field, period_links

_DAY = timedelta(days=1)


class OverviewQuery(RequestSchema):
    class Input(TypedDict):
        period: str

    period = period_field()


@admins_only
@takes(query=OverviewQuery)
def admin_home_page(query: OverviewQuery.Input) -> Response:
    session, now = current_frontdesk.session, current_frontdesk.clock.now()
    period = find_period(query["period"], now)
    features = service(ConsoleResources).features
    has_deliveries = features.has(".deliveries_page")
    queue = count_backlog(session) if has_deliveries else Backlog({}, None, False)
    # An email that waits until its notification is read is due later than now.
    age = max(now - queue.oldest, timedelta()) if queue.oldest else timedelta()
    figures = Figures(period, features)
    counted = figures.counted()
    findings = sorted(find_problems_quickly(), key=lambda each: each.level != "fault")
    return render_page(
        "admin/home.html",
        queue=queue,
        age_minutes=int(age.total_seconds() // 60),
        is_late=age > LONGEST_WAIT,
        reasons=count_failures(session, now - _DAY) if has_deliveries else {},
        findings=findings,
        steps=checklist(findings, features),
        title=title,
        accounts=estimate(session, service(Accounts).model),
        period=period,
        periods=period_links(".admin_home_page", period.name),
        mfa_users=figures.mfa_users(),
        active=figures.active(counted.get("sign_ins")),
        counted=counted,
        is_complete=all(each.is_complete for each in counted.values()),
        uses_stored=figures.counter.uses_stored,
    )
