"""An admin's broadcasts and their delivery."""

from typing import Any, TypedDict

from flask import Response

from ...auth.caller import caller
from ...core.context import service
from ...core.web.fields import RequestSchema, StrictInteger
from ...core.web.request_data import takes
from ...notifications import admin_routes as broadcasts_api
from ...notifications.sent import SentItem, SentNotifications
from ..api_calls import ApiCall, calls_api, get_from_api
from ..links import redirect_to
from ..pages import render_fragment, render_page
from ..texts import _, _n
from .filters import admins_only

PER_PAGE = 25
FAILED_PER_PAGE = 50


class SentQuery(RequestSchema):
    class Input(TypedDict):
        before: int | None

    before = StrictInteger(load_default=None)


class FailedQuery(RequestSchema):
    class Input(TypedDict):
        after: int | None

    after = StrictInteger(load_default=None)


@admins_only
@takes(query=SentQuery)
def broadcasts_page(query: SentQuery.Input) -> Response:
    before = query["before"]
    sent = service(SentNotifications).page_with_stored_counts(
        caller().account.id, limit=PER_PAGE + 1, before=before
    )
    older = sent[PER_PAGE - 1]["id"] if len(sent) > PER_PAGE else None
    return render_page(
        "admin/broadcasts/list.html", sent=sent[:PER_PAGE], before=before, older=older
    )


@admins_only
@takes(query=FailedQuery)
def broadcast_page(query: FailedQuery.Input, notification_id: int) -> Response:
    item = service(SentNotifications).get_with_stored_counts(caller().account.id, notification_id)
    failed: list[Any] = []
    if any(counts["failed"] for counts in (item["deliveries"] or {}).values()):
        failed = _failed_deliveries(notification_id, query["after"])
    return render_page(
        "admin/broadcasts/one.html",
        at="broadcasts_page",
        item=item,
        failed=failed,
        next_after=failed[-1]["id"] if len(failed) == FAILED_PER_PAGE else None,
        is_pending=has_pending_deliveries(item),
    )


@admins_only
def broadcast_progress(notification_id: int) -> Response:
    """Return the progress for the script of the page, until all messages are sent."""
    item = service(SentNotifications).poll(caller().account.id, notification_id)
    return render_fragment(
        "admin/broadcasts/progress.html", item=item, is_pending=has_pending_deliveries(item)
    )


@calls_api(broadcasts_api.retry_notification, form_page=broadcast_page)
def retry_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    call_api()
    return redirect_to(
        ".broadcast_page", _("Failed messages are retried."), notification_id=notification_id
    )


@calls_api(broadcasts_api.delete_sent_notification, form_page=broadcast_page)
def delete_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    deleted = call_api()
    text = _n(
        "The broadcast was deleted from one inbox.",
        "The broadcast was deleted from {n} inboxes.",
        deleted["receivers"],
    )
    return redirect_to(".broadcasts_page", text)


def has_pending_deliveries(item: SentItem) -> bool:
    return any(counts["pending"] for counts in (item["deliveries"] or {}).values())


def _failed_deliveries(notification_id: int, after: int | None) -> list[Any]:
    query = {"limit": FAILED_PER_PAGE} | ({"after": after} if after else {})
    found: list[Any] = get_from_api(
        broadcasts_api.list_notification_deliveries, query=query, notification_id=notification_id
    )
    return found
