"""What admins send, and how it stands."""

from __future__ import annotations

from functools import wraps
from typing import Any

from flask import Response

from ..accounts.errors import AccountModelMissing
from ..auth.guards import active_account_required, caller, roles_required
from ..core.desk import find_desk, service
from ..core.errors import Invalid
from ..core.http.answering import answers, json_response
from ..core.http.blueprint import Blueprint
from ..core.http.fields import Page
from ..core.http.operation import View, example, raises
from ..core.http.reading import takes
from .errors import NoChannels, NotificationNotFound, UnknownReceivers
from .models import ADMIN
from .schemas import Broadcast, ListedNotificationRead, NotificationRead, Receivers
from .sending import INAPP, Draft, Sending
from .sent import SentNotifications, sent_item
from .standing import Standing

blueprint = Blueprint("admin_notifications", __name__)

DRAFT = {
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
}
SENT = {
    "id": 3,
    **DRAFT,
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
    "receivers": 120,
    "read": 0,
    "deliveries": {"email": {"pending": 120, "sent": 0, "failed": 0, "skipped": 0}},
}


def admins_only(view: View) -> View:
    return active_account_required(roles_required("admin", "root")(view))


def account_model_required(view: View) -> View:
    """Without a model there is no account that could enter: said before anybody is refused."""

    @wraps(view)
    def check_then_view(*args: Any, **kwargs: Any) -> Any:
        if Sending not in find_desk().services:
            raise AccountModelMissing
        return view(*args, **kwargs)

    return check_then_view


@blueprint.post("/")
@account_model_required
@admins_only
@example(json={"data": DRAFT}, answer=SENT)
@raises(NoChannels, AccountModelMissing)
@takes(query=Receivers, json=Broadcast)
@answers(201, NotificationRead)
def send(query: dict[str, Any], json: dict[str, Any]) -> Response:
    """Send to some accounts, or to all

    The receivers' ids are repeated in the query; a long list may come in the body, beside `data`.
    """
    data = json["data"]
    _check_channels(data["channels"])
    draft = Draft(**data, notification_type=ADMIN, sender_id=caller().id)
    try:
        sent = service(Sending).send(draft, _receivers(query, json))
    except UnknownReceivers as error:
        place = "json" if "account_receiver_ids" in json else "query"
        raise UnknownReceivers(error.ids, place) from None
    assert sent.notification is not None
    return json_response(sent_item(sent.notification, Standing(0, sent.deliveries)), 201)


@blueprint.get("/all")
@admins_only
@example(answer=[SENT])
@takes(query=Page)
@answers(200, ListedNotificationRead, many=True)
def list_sent(query: dict[str, Any]) -> Response:
    """List what one has sent, the newest first

    Of broadcasts to many, the counts may be those of a while ago, or null where there are none yet;
    each by itself is counted anew.
    """
    return json_response(service(SentNotifications).page(caller().id, **query))


@blueprint.get("/<row_id:notification_id>")
@admins_only
@example(answer=SENT)
@raises(NotificationNotFound)
@answers(200, NotificationRead)
def read_sent(notification_id: int) -> Response:
    """Read one that one has sent"""
    return json_response(service(SentNotifications).get(caller().id, notification_id))


@blueprint.delete("/<row_id:notification_id>")
@admins_only
@example(answer=SENT)
@raises(NotificationNotFound)
@answers(200, NotificationRead)
def delete_sent(notification_id: int) -> Response:
    """Delete one that one has sent, from every inbox; the answer is the deleted one"""
    return json_response(service(SentNotifications).delete(caller().id, notification_id))


def _check_channels(channels: list[str]) -> None:
    if not channels:
        raise NoChannels
    unknown = sorted(set(channels) - service(Sending).known_channels())
    if unknown:
        message = f"Not a channel: {', '.join(unknown)}"
        raise Invalid.field("json", "data.channels", message)
    if INAPP not in channels:
        raise Invalid.field("json", "data.channels", f"Must have {INAPP} among them.")


def _receivers(query: dict[str, Any], json: dict[str, Any]) -> list[int] | None:
    """Left out in both places: all accounts."""
    given = [*query.get("account_receiver_ids", ()), *json.get("account_receiver_ids", ())]
    return given or None
