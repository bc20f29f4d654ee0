"""The broadcasts of all admins and their delivery; only the sender can retry or delete one."""

from collections.abc import Iterable
from typing import Any, TypedDict

from flask import Response

from ...auth.caller import caller
from ...core.context import service
from ...core.types import JsonObject
from ...core.web.fields import RequestSchema, StrictInteger
from ...core.web.paging import Slice, slice_of
from ...core.web.replicas import reads_replica
from ...core.web.request_data import takes
from ...delivery.outbox.models import FAILED
from ...notifications import admin_routes as broadcasts_api
from ...notifications.saved_drafts import SavedDrafts
from ...notifications.sent import SentItem, SentNotifications
from ..api_calls import ApiCall, calls_api
from ..links import redirect_to
from ..pages import render_fragment, render_page
from ..resources import ConsoleResources
from ..texts import _, _n
from .audience_texts import describe
from .broadcast_results import paces
from .filters import admins_only, emails_by_id

PER_PAGE = 25
FAILED_PER_PAGE = 50


class SentQuery(RequestSchema):
    class Input(TypedDict):
        before: int | None
        after: int | None

    before = StrictInteger(load_default=None)
    after = StrictInteger(load_default=None)


class FailedQuery(RequestSchema):
    class Input(TypedDict):
        after: int | None

    after = StrictInteger(load_default=None)


class ProgressQuery(FailedQuery):
    class Input(FailedQuery.Input):
        failed: int

    # The number of failed messages that the page shows.
    failed = StrictInteger(load_default=0)


@admins_only
@takes(query=SentQuery)
def broadcasts_page(query: SentQuery.Input) -> Response:
    page = _sent(query)
    return render_page(
        "admin/broadcasts/list.html",
        sent=page.rows,
        senders=_names_of_senders(page.rows),
        newer=page.before,
        older=page.after,
        drafts=[] if page.before else service(SavedDrafts).list(caller().account.id),
    )


@reads_replica
def _sent(query: SentQuery.Input) -> Slice:
    """Return a page of the broadcasts of all admins."""
    before, after = query["before"], query["after"]
    return slice_of(
        service(SentNotifications).page_with_stored_counts(
            None, limit=PER_PAGE + 1, before=before, after=after
        ),
        PER_PAGE,
        lambda item: str(item["id"]),
        is_first=before is None,
        is_backward=after is not None,
    )


@admins_only
@takes(query=FailedQuery)
def broadcast_page(query: FailedQuery.Input, notification_id: int) -> Response:
    item = service(SentNotifications).get_with_stored_counts(None, notification_id)
    trigger = "load, every 3s" if has_pending_deliveries(item) else ""
    audience = service(SentNotifications).audience(notification_id)
    return render_page(
        "admin/broadcasts/one.html",
        at="broadcasts_page",
        sender=_names_of_senders([item]).get(str(item["sender_id"]), ""),
        audience=[] if audience is None else describe(audience),
        trigger=trigger or ("load" if item["read"] is None else ""),
        **_delivery_context(item, query["after"]),
    )


@admins_only
@takes(query=ProgressQuery)
def broadcast_progress(query: ProgressQuery.Input, notification_id: int) -> Response:
    """Return the progress for the script of the page, until all messages are sent.

    The list of failed messages is returned when their number has changed.
    """
    item = service(SentNotifications).poll(None, notification_id)
    return render_fragment(
        "admin/broadcasts/progress.html",
        trigger="every 3s" if has_pending_deliveries(item) else "",
        updates_failed=_count(item, "failed") != query["failed"],
        **_delivery_context(item, query["after"]),
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
    return _count(item, "pending") > 0


def _count(item: SentItem, state: str) -> int:
    return sum(counts[state] for counts in (item["deliveries"] or {}).values())


def _delivery_context(item: SentItem, after: int | None) -> JsonObject:
    sent, deliveries = service(SentNotifications), item["deliveries"] or {}
    failed = Slice([])
    if _count(item, "failed"):
        failed = sent.deliveries(None, item["id"], state=FAILED, limit=FAILED_PER_PAGE, after=after)
    skipped = [name for name, counts in deliveries.items() if counts["skipped"]]
    return {
        "item": item,
        "is_own": item["sender_id"] == caller().account.id,
        "failed": failed,
        "failed_count": _count(item, "failed"),
        "after": after,
        "paces": paces(item),
        "is_pending": has_pending_deliveries(item),
        "skip_reasons": sent.skip_reasons(item["id"], skipped),
    }


def _names_of_senders(items: Iterable[SentItem]) -> dict[Any, str]:
    """Return the name of each sender, or the email address, by the id as a string."""
    ids = {item["sender_id"] for item in items} - {None}
    people = service(ConsoleResources).people.by_ids(ids)
    return {
        str(account_id): people[account_id].name or email if account_id in people else email
        for account_id, email in emails_by_id(ids).items()
    }
