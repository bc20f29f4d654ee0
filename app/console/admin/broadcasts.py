"""The broadcasts of all admins and their delivery; only the sender can retry or delete one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired

from flask import Response
from markupsafe import Markup

from ...accounts.service import Accounts
from ...auth.caller import caller
from ...broadcasts import routes as broadcasts_api
from ...broadcasts.outcomes import Outcomes
from ...broadcasts.saved import SavedDrafts
from ...broadcasts.sent import SentItem, SentNotifications
from ...core.context import service
from ...core.types import JsonObject
from ...core.web.fields import StrictInteger, Text
from ...core.web.paging import Slice, slice_of
from ...core.web.replicas import reads_replica
from ...core.web.request_data import takes
from ...delivery.outbox.models import FAILED, REASON_LENGTH, SKIPPED
from ...notifications.models import EXPANDING
from ..api_calls import ApiCall, console_form
from ..csv_files import csv_lines, download, release_connection
from ..links import redirect_to
from ..pages import render_fragment, render_page
from ..resources import ConsoleResources
from ..texts import _, _n
from .audience_texts import describe
from .filters import ListPosition, admins_only, is_first

PER_PAGE = 25
FAILED_PER_PAGE = 50
CSV_COLUMNS = ("channel", "receiver_id", "email", "state", "reason", "attempts", "finished_at")


class ProgressQuery(ListPosition):
    class Input(ListPosition.Input):
        failed: int
        reason: NotRequired[str]

    # The number of failed messages that the open page shows.
    failed = StrictInteger(load_default=0)
    # The failures that the page lists, as `reason_code` shortens their reasons.
    reason = Text(min=1, max=REASON_LENGTH)


@admins_only
@takes(query=ListPosition)
def broadcasts_page(query: ListPosition.Input) -> Response:
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
def _sent(query: ListPosition.Input) -> Slice:
    """Return a page of the broadcasts of all admins."""
    return slice_of(
        service(SentNotifications).page(limit=PER_PAGE + 1, **query),
        PER_PAGE,
        lambda item: str(item["id"]),
        is_first=is_first(query),
        is_backward=query["after"] is not None,
        read_first=lambda: _sent({"before": None, "after": None}),
    )


@admins_only
@takes(query=ProgressQuery)
def broadcast_page(query: ProgressQuery.Input, notification_id: int) -> Response:
    item = service(SentNotifications).get(notification_id)
    audience = service(SentNotifications).audience(notification_id)
    return render_page(
        "admin/broadcasts/one.html",
        at="broadcasts_page",
        sender=_names_of_senders([item]).get(str(item["sender_id"]), ""),
        audience=[] if audience is None else describe(audience),
        **_delivery_context(item, query),
    )


@admins_only
@takes(query=ProgressQuery)
def broadcast_progress(query: ProgressQuery.Input, notification_id: int) -> Response:
    """Return the progress for the script of the page, until all messages are sent.

    The list of failed messages is returned when their number has changed.
    """
    item = service(SentNotifications).get(notification_id)
    return render_fragment(
        "admin/broadcasts/progress.html",
        updates_failed=_count(item, "failed") != query["failed"],
        **_delivery_context(item, query),
    )


@console_form(broadcasts_api.retry_notification, page=broadcast_page)
def retry_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    call_api()
    return redirect_to(
        ".broadcast_page", _("Failed messages are retried."), notification_id=notification_id
    )


@console_form(broadcasts_api.stop_notification, page=broadcast_page)
def stop_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    call_api()
    return redirect_to(".broadcast_page", _("Sending is stopped."), notification_id=notification_id)


@console_form(broadcasts_api.delete_sent_notification, page=broadcast_page)
def delete_broadcast(call_api: ApiCall, notification_id: int) -> Response:
    deleted = call_api()
    text = _n(
        "The broadcast was deleted from one inbox.",
        "The broadcast was deleted from {n} inboxes.",
        deleted["receivers"],
    )
    return redirect_to(".broadcasts_page", text)


@admins_only
def broadcast_result_csv(notification_id: int) -> Response:
    release_connection()
    rows = service(Outcomes).export(notification_id, _write_csv)
    return download(f"broadcast-{notification_id}.csv", rows, CSV_COLUMNS)


def _write_csv(rows: Sequence[JsonObject]) -> bytes:
    return csv_lines([row[name] for name in CSV_COLUMNS] for row in rows)


def _count(item: SentItem, state: str) -> int:
    return sum(counts[state] for counts in item["deliveries"].values())


def _delivery_context(item: SentItem, query: ProgressQuery.Input) -> JsonObject:
    sent, deliveries, outcomes = service(SentNotifications), item["deliveries"], service(Outcomes)
    failures = outcomes.failures(item["id"]) if _count(item, "failed") else {}
    only = next(iter(failures)) if len(failures) == 1 else None
    position: Any = {name: query[name] for name in ("before", "after")}
    position["reason"] = query.get("reason", only)
    failed = Slice([])
    if failures and position["reason"]:
        failed = sent.deliveries(None, item["id"], state=FAILED, limit=FAILED_PER_PAGE, **position)
    skipped = [name for name, counts in deliveries.items() if counts["skipped"]]
    retries = outcomes.retries(item) if _count(item, "pending") else {}
    expansion = sent.expansions.find(item["id"])
    state = expansion.state if expansion else ""
    return {
        "item": item,
        "is_own": item["sender_id"] == caller().account.id,
        "failed": failed,
        "failures": failures,
        "failed_count": _count(item, "failed"),
        "position": position,
        "retries": retries,
        "paces": _paces(item, retries),
        "is_pending": _count(item, "pending") > 0 or state == EXPANDING,
        "is_stopped": state == SKIPPED,
        # Fewer than the recipients while a worker stores the rows, and after a stop.
        "inboxes": expansion.stored if expansion else item["receivers"],
        "skip_reasons": sent.skip_reasons(item["id"], skipped),
    }


def _names_of_senders(items: Iterable[SentItem]) -> dict[str, str]:
    """Return the name of each sender, or the email address, by the id as a string."""
    ids = {item["sender_id"] for item in items} - {None}
    people = service(ConsoleResources).people.by_ids(ids)
    return {
        str(account_id): people[account_id].name or email if account_id in people else email
        for account_id, email in service(Accounts).rows.emails(ids).items()
    }


def _paces(item: SentItem, retries: Mapping[str, Any]) -> Mapping[str, tuple[Markup, Markup]]:
    """Return the speed and the time left of each channel with queued messages, where known.

    Messages that wait for another attempt have no speed.
    """
    pending = {
        name: number
        for name, counts in item["deliveries"].items()
        if (number := counts["pending"] - (retries[name].number if name in retries else 0)) > 0
    }
    rates = service(Outcomes).rates(item["id"], item["created_at"]) if pending else {}
    return {
        name: (_per_minute(rates[name]), _time_left(number / rates[name]))
        for name, number in pending.items()
        if name in rates
    }


def _per_minute(rate: float) -> Markup:
    if rate < 1:
        return _("Less than one per minute")
    return _n("One per minute", "{n} per minute", round(rate))


def _time_left(minutes: float) -> Markup:
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 120:
        return _n("about one minute left", "about {n} minutes left", round(minutes))
    return _n("about one hour left", "about {n} hours left", round(minutes / 60))
