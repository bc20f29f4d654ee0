"""The overview for admins: first steps, open problems, and figures of a period."""

from collections.abc import Set
from datetime import timedelta
from typing import TypedDict

from flask import Response
from sqlalchemy import select

from ...accounts.service import Accounts
from ...auth.caller import caller
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...core.db.estimates import estimate
from ...core.queue import LONGEST_WAIT
from ...core.web.fields import RequestSchema
from ...core.web.request_data import takes
from ...delivery.mail.brand import BrandSettings
from ...delivery.outbox.statistics import Backlog, count_backlog, count_failures
from ...doctor.checks import find_problems_quickly, title
from ...notifications.models import IS_BROADCAST, Notification
from ..api_calls import console_form
from ..cookies import A_YEAR, read_cookie, set_cookie
from ..links import redirect_to
from ..navigation import ADMINS
from ..pages import render_page
from ..resources import ConsoleResources, Features
from .figures import Figures
from .filters import admins_only
from .periods import find_period, period_field, period_links

_DAY = timedelta(days=1)
# The checks of the doctor that find wrong keys.
_KEYS = {"secret_key", "signing_keys"}
# The cookie of a browser that hides the first steps.
_NO_STEPS = "fd-first-steps"


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
        steps=first_steps({each.check for each in findings}, features),
        title=title,
        accounts=estimate(session, service(Accounts).model),
        period=period,
        periods=period_links(".admin_home_page", period.name),
        mfa_users=figures.mfa_users(),
        active=figures.active(counted.get("sign_ins")),
        counted=counted,
        is_complete=all(each.numbers is not None for each in counted.values()),
        uses_stored=figures.counter.uses_stored,
    )


def first_steps(found: Set[str], features: Features) -> dict[str, bool]:
    """Return whether each step after the installation is done, from the checks with findings.

    There are no steps if all are done, if this browser hides them, and for other admins than root.
    """
    if caller().account.role != "root" or read_cookie(_NO_STEPS):
        return {}
    session, settings = current_frontdesk.session, current_frontdesk.settings
    auth, brand = settings.of(AuthSettings), settings.of(BrandSettings)
    model = service(Accounts).model
    # The first condition selects the partial index of accounts with a role other than `user`.
    admins = select(model.id).where(model.role != "user", model.role.in_(ADMINS)).limit(2)
    steps = {
        "mail": "mail" not in found,
        "keys": not found & _KEYS and (auth.MFA == "off" or bool(auth.ENCRYPTION_KEYS)),
        "admin": len(session.scalars(admins).all()) > 1,
        "brand": brand != BrandSettings(NAME=settings.core.PROJECT_NAME),
    }
    if features.has(".compose_page"):
        sent = select(Notification.id).where(IS_BROADCAST).limit(1)
        steps["broadcast"] = session.scalar(sent) is not None
    return {} if all(steps.values()) else steps


@console_form()
@admins_only
def hide_first_steps() -> Response:
    response = redirect_to(".admin_home_page")
    set_cookie(response, _NO_STEPS, "hidden", A_YEAR)
    return response
