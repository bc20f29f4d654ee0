"""An account's own inbox."""

from __future__ import annotations

from typing import Any

from flask import Response

from ..auth.guards import active_account_required, caller
from ..core.desk import service
from ..core.http.answering import answers, json_response
from ..core.http.blueprint import Blueprint
from ..core.http.fields import Message
from ..core.http.operation import example, raises
from ..core.http.reading import takes
from .errors import NotificationNotFound
from .inbox import Inbox
from .schemas import InboxItemRead, InboxPage, Mark, UnreadCount

blueprint = Blueprint("notifications", __name__)

ITEM = {
    "id": 7,
    "notification_id": 3,
    "receiver_id": 1,
    "is_read": False,
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
}


@blueprint.get("/")
@active_account_required
@example(answer=[ITEM])
@takes(query=InboxPage)
@answers(200, InboxItemRead, many=True)
def list_inbox(query: dict[str, Any]) -> Response:
    """List one's own inbox, the newest first"""
    return json_response(service(Inbox).page(caller().id, **query))


@blueprint.get("/unread-count")
@active_account_required
@example(answer={"unread": 4})
@answers(200, UnreadCount)
def count_unread() -> Response:
    """How many are unread?"""
    return json_response({"unread": service(Inbox).unread(caller().id)})


@blueprint.patch("/mark-all")
@active_account_required
@example(answer={"message": "4 notifications marked"})
@takes(query=Mark)
@answers(200, Message)
def mark_all(query: dict[str, Any]) -> dict[str, str]:
    """Mark all as read or unread, or each the other way round"""
    marked = service(Inbox).mark_all(caller().id, query["status"])
    return {"message": f"{marked} notifications marked"}


@blueprint.get("/<row_id:notification_id>")
@active_account_required
@example(answer=ITEM)
@raises(NotificationNotFound)
@answers(200, InboxItemRead)
def read_item(notification_id: int) -> Response:
    """Read one, by the inbox row's own `id`"""
    return json_response(service(Inbox).get(caller().id, notification_id))


@blueprint.patch("/<row_id:notification_id>/mark")
@active_account_required
@example(answer={**ITEM, "is_read": True})
@raises(NotificationNotFound)
@takes(query=Mark)
@answers(200, InboxItemRead)
def mark_item(notification_id: int, query: dict[str, Any]) -> Response:
    """Mark one as read or unread, by its `notification_id`"""
    item = service(Inbox).mark(caller().id, notification_id, query["status"])
    return json_response(item)


@blueprint.delete("/<row_id:notification_id>")
@active_account_required
@example(answer=ITEM)
@raises(NotificationNotFound)
@answers(200, InboxItemRead)
def delete_item(notification_id: int) -> Response:
    """Delete one's own copy, by the inbox row's own `id`; the answer is the deleted one"""
    return json_response(service(Inbox).delete(caller().id, notification_id))
