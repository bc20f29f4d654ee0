"""What an admin has sent, how it goes out, and what became of it."""

from typing import Any, TypedDict

from flask import Response

from ...auth.caller import caller
from ...core.context import service
from ...core.web.fields import RequestSchema, StrictInteger
from ...core.web.request_data import takes
from ...notifications import admin_routes as broadcasts_api
from ...notifications.sent import SentItem, SentNotifications
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import fragment, page
from ..texts import _, _n
from ..ways import go
from .reading import admins_only

LISTED = 25
FAILED_LISTED = 50


class SentView(RequestSchema):
    class Input(TypedDict):
        before: int | None

    before = StrictInteger(load_default=None)


class FailedView(RequestSchema):
    class Input(TypedDict):
        after: int | None

    after = StrictInteger(load_default=None)


@admins_only
@takes(query=SentView)
def broadcasts_page(query: SentView.Input) -> Response:
    before = query["before"]
    sent = service(SentNotifications).page_with_stored_counts(
        caller().account.id, limit=LISTED + 1, before=before
    )
    older = sent[LISTED - 1]["id"] if len(sent) > LISTED else None
    return page("admin/broadcasts/list.html", sent=sent[:LISTED], before=before, older=older)


@admins_only
@takes(query=FailedView)
def broadcast_page(query: FailedView.Input, notification_id: int) -> Response:
    item = service(SentNotifications).get_with_stored_counts(caller().account.id, notification_id)
    failed: list[Any] = []
    if any(counts["failed"] for counts in (item["deliveries"] or {}).values()):
        failed = _failed(notification_id, query["after"])
    return page(
        "admin/broadcasts/one.html",
        at="broadcasts_page",
        item=item,
        failed=failed,
        further=failed[-1]["id"] if len(failed) == FAILED_LISTED else None,
        is_going_out=is_going_out(item),
    )


@admins_only
def broadcast_progress(notification_id: int) -> Response:
    """For the script of the page, as long as something is on its way."""
    item = service(SentNotifications).poll(caller().account.id, notification_id)
    return fragment("admin/broadcasts/progress.html", item=item, is_going_out=is_going_out(item))


@calls_api(broadcasts_api.retry_notification, refused=broadcast_page)
def retry_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    call_api()
    return go(".broadcast_page", _("Failed messages are retried."), notification_id=notification_id)


@calls_api(broadcasts_api.delete_sent_notification, refused=broadcast_page)
def delete_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    gone = call_api()
    text = _n(
        "The broadcast was deleted from one inbox.",
        "The broadcast was deleted from {n} inboxes.",
        gone["receivers"],
    )
    return go(".broadcasts_page", text)


def is_going_out(item: SentItem) -> bool:
    return any(counts["pending"] for counts in (item["deliveries"] or {}).values())


def _failed(notification_id: int, after: int | None) -> list[Any]:
    query = {"limit": FAILED_LISTED} | ({"after": after} if after else {})
    found: list[Any] = get_from_api(
        broadcasts_api.list_notification_deliveries, query=query, notification_id=notification_id
    )
    return found
