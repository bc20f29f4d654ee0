"""The result of a broadcast by channel, as a page and as a file."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flask import Response
from markupsafe import Markup

from ...core.context import service
from ...core.types import JsonObject
from ...notifications.counts import max_minutes
from ...notifications.outcomes import Outcomes
from ...notifications.sent import SentItem, SentNotifications
from ..csv_files import csv_lines, download, release_connection
from ..pages import render_page
from ..texts import _, _n
from .filters import admins_only

COLUMNS = ("channel", "receiver_id", "email", "state", "reason", "attempts", "finished_at")


class Pace(NamedTuple):
    per_minute: Markup
    time_left: Markup


@admins_only
def broadcast_result_page(notification_id: int) -> Response:
    item = service(SentNotifications).poll(None, notification_id)
    counts = service(Outcomes).by_reason(item)
    return render_page(
        "admin/broadcasts/result.html",
        at="broadcasts_page",
        item=item,
        counts=counts,
        minutes=max_minutes(item["receivers"]),
    )


@admins_only
def broadcast_result_csv(notification_id: int) -> Response:
    release_connection()
    rows = service(Outcomes).export(notification_id, _write_csv)
    return download(f"broadcast-{notification_id}.csv", rows, COLUMNS)


def paces(item: SentItem) -> Mapping[str, Pace]:
    """Return the speed and the time left of each channel with queued messages, where known."""
    pending = {
        name: counts["pending"]
        for name, counts in (item["deliveries"] or {}).items()
        if counts["pending"]
    }
    rates = service(Outcomes).rates(item["id"], item["created_at"]) if pending else {}
    return {
        name: Pace(_per_minute(rates[name]), _time_left(number / rates[name]))
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


def _write_csv(rows: Sequence[JsonObject]) -> bytes:
    return csv_lines([row[name] for name in COLUMNS] for row in rows)
