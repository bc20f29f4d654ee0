"""The messages that the overview counts: queued ones, and those of a period."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NotRequired

from flask import Response
from marshmallow import validate

from ...accounts.service import Accounts
from ...broadcasts.sent import SentNotifications
from ...core.context import current_frontdesk, service
from ...core.types import JsonObject
from ...core.web.fields import Text
from ...core.web.paging import Slice, slice_of
from ...core.web.request_data import takes
from ...delivery.outbox.models import FAILED, PENDING, REASON_LENGTH, SENT
from ...delivery.outbox.statistics import list_counted
from ...notifications.models import SUBJECT
from ..pages import render_page
from .filters import ListPosition, admins_only, is_first
from .periods import find_period, period_field, period_links

AT = "deliveries_page"
PER_PAGE = 50


class DeliveriesQuery(ListPosition):
    class Input(ListPosition.Input):
        state: str
        period: str
        channel: NotRequired[str]
        reason: NotRequired[str]

    state = Text(max=10, load_default=FAILED, validate=validate.OneOf((PENDING, FAILED, SENT)))
    period = period_field("24h")
    channel = Text(min=1, max=50)
    reason = Text(min=1, max=REASON_LENGTH)


@admins_only
@takes(query=DeliveriesQuery)
def deliveries_page(query: DeliveriesQuery.Input) -> Response:
    period = find_period(query["period"], current_frontdesk.clock.now())
    state, channel, reason = query["state"], query.get("channel"), query.get("reason")
    page = _read(query, period.start)
    given = {"channel": channel, "reason": reason}
    filters = {name: value for name, value in given.items() if value is not None}
    return render_page(
        "admin/deliveries.html",
        at="admin_home_page",
        rows=_with_names(page.rows),
        state=state,
        period=period,
        periods=period_links(f".{AT}", period.name, state=state, **filters),
        filters=filters,
        is_first=is_first(query),
        newer=page.before,
        older=page.after,
    )


def _read(query: DeliveriesQuery.Input, since: datetime) -> Slice:
    found = list_counted(
        current_frontdesk.session,
        query["state"],
        since,
        limit=PER_PAGE + 1,
        before=query["before"],
        after=query["after"],
        channel=query.get("channel"),
        reason=query.get("reason"),
    )
    return slice_of(
        found,
        PER_PAGE,
        lambda row: str(row.id),
        is_first=is_first(query),
        is_backward=query["after"] is not None,
        read_first=lambda: _read({**query, "before": None, "after": None}, since),
    )


def _with_names(rows: Sequence[Any]) -> list[JsonObject]:
    """Add the recipient's email address, and the title if the message is a broadcast."""
    from_text = current_frontdesk.tables.account_ids.from_text
    ids = [from_text(row.receiver_id) for row in rows]
    emails = service(Accounts).rows.emails(ids)
    about = {row.subject_id for row in rows if row.subject_kind == SUBJECT}
    titles = service(SentNotifications).titles(about)
    return [
        {
            **row._mapping,
            "account_id": account_id,
            "email": emails.get(account_id),
            "title": titles.get(row.subject_id) if row.subject_kind == SUBJECT else None,
        }
        for row, account_id in zip(rows, ids, strict=True)
    ]
