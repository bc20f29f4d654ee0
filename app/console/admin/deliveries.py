"""The messages that the overview counts: queued ones, and those of the last 24 hours."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NotRequired, TypedDict

from flask import Response
from marshmallow import validate

from ...core.context import current_frontdesk, service
from ...core.db.account_ids import serialize_id
from ...core.types import JsonObject
from ...core.web.fields import RequestSchema, StrictInteger, Text
from ...core.web.request_data import takes
from ...delivery.outbox.models import FAILED, PENDING, REASON_LENGTH, SENT
from ...delivery.outbox.statistics import list_counted
from ...notifications.models import SUBJECT
from ...notifications.sent import SentNotifications
from ..pages import render_page
from .filters import admins_only, emails_by_id

PER_PAGE = 50
# The overview counts the messages of this time.
PERIOD = timedelta(days=1)


class DeliveriesQuery(RequestSchema):
    class Input(TypedDict):
        state: str
        before: NotRequired[int]
        channel: NotRequired[str]
        reason: NotRequired[str]

    state = Text(max=10, load_default=FAILED, validate=validate.OneOf((PENDING, FAILED, SENT)))
    before = StrictInteger()
    channel = Text(min=1, max=50)
    reason = Text(min=1, max=REASON_LENGTH)


@admins_only
@takes(query=DeliveriesQuery)
def deliveries_page(query: DeliveriesQuery.Input) -> Response:
    since = current_frontdesk.clock.now() - PERIOD
    found = list_counted(current_frontdesk.session, since=since, limit=PER_PAGE + 1, **query)
    rows = found[:PER_PAGE]
    return render_page(
        "admin/deliveries.html",
        at="admin_home_page",
        rows=_with_names(rows),
        state=query["state"],
        filters={name: value for name, value in query.items() if name in ("channel", "reason")},
        is_first="before" not in query,
        older=rows[-1].id if len(found) > PER_PAGE else None,
    )


def _with_names(rows: Sequence[Any]) -> list[JsonObject]:
    """Add the recipient's email address, and the title if the message is a broadcast."""
    from_text = current_frontdesk.tables.account_ids.from_text
    ids = [from_text(row.receiver_id) for row in rows]
    emails = emails_by_id(ids)
    about = {row.subject_id for row in rows if row.subject_kind == SUBJECT}
    titles = service(SentNotifications).titles(about)
    return [
        {
            **row._mapping,
            "account_id": account_id,
            "email": emails.get(serialize_id(account_id)),
            "title": titles.get(row.subject_id) if row.subject_kind == SUBJECT else None,
        }
        for row, account_id in zip(rows, ids, strict=True)
    ]
