"""Routes of the caller's inbox."""

import orjson
from flask import request
from orjson import Fragment

from ..auth.caller import caller
from ..auth.decorators import active_account_required
from ..auth.scopes import NOTIFICATIONS_READ, NOTIFICATIONS_WRITE, scope
from ..core.context import find_context, service
from ..core.web.blueprint import Blueprint, LazyView
from ..core.web.fields import Message
from ..core.web.operation import example, raises, variables
from ..core.web.paging import own_path
from ..core.web.replicas import reads_replica
from ..core.web.request_data import takes
from ..core.web.responses import answers, polled
from .assembly import assemble_blueprint
from .element import add_template_global, open_preferences, serve_script
from .errors import NotificationNotFound
from .inbox import Inbox, Item
from .schemas import (
    ITEM,
    MARKED,
    READ_ITEM,
    SEEN,
    SHOWN,
    UNREAD,
    InboxItemRead,
    InboxPage,
    Mark,
    Seen,
    UnreadCount,
)
from .seen import Counts, SeenMarks

blueprint = Blueprint(
    "notifications", __name__, assemble=assemble_blueprint, about="The caller's inbox"
)
# An item has two ids, and the wrong one identifies another item: its `links` have the right ones.
by_id = variables(notification_id="`id` of the inbox item (not its `notification_id`).")
by_notification = variables(notification_id="`notification_id` of the inbox item (not its `id`).")


def add_links(items: list[Item]) -> list[Item]:
    # Written as JSON, since a page has hundreds and objects would cost a third more. A path is
    # percent-encoded, so it needs no other escaping.
    inbox = _inbox_path()
    start, mark, delete = f'{{"self":"{inbox}/', f'","mark":"{inbox}/', f'/mark","delete":"{inbox}/'
    for item in items:
        item_id, url = item["id"], item["url"]
        opened = "null" if url is None else _opened_page(url)
        item["links"] = Fragment(
            f'{start}{item_id}{mark}{item["notification_id"]}{delete}{item_id}","open":{opened}}}'
        )
    return items


def _opened_page(url: str) -> str:
    return orjson.dumps(find_context().settings.core.link_url(url)).decode()


def _inbox_path() -> str:
    """Return the path of the inbox, taken from the request's path with all its prefixes."""
    path = own_path().rstrip("/")
    if "notification_id" in (request.view_args or ()):
        path = path.removesuffix("/mark").rpartition("/")[0]
    return path


@blueprint.get("/")
@active_account_required
@scope(NOTIFICATIONS_READ, workspace=False)
@example(answer=[ITEM])
@takes(query=InboxPage)
@reads_replica
@polled
@answers(200, InboxItemRead, paged=True, ready=True)
def list_inbox(query: InboxPage.Input) -> list[Item]:
    """List the caller's inbox

    Returns the newest first. Send the `ETag` as `If-None-Match` to poll.
    """
    return add_links(service(Inbox).page(caller().account.id, **query))


@blueprint.get("/unread-count")
@active_account_required
@scope(NOTIFICATIONS_READ, workspace=False)
@example(answer=UNREAD)
@polled
@answers(200, UnreadCount, ready=True)
def count_unread() -> Counts:
    """Count the caller's unread items

    `unseen` is the number for the badge of a bell: unread items that are newer than the newest one
    that was seen. Send the `ETag` as `If-None-Match` to poll.
    """
    return service(SeenMarks).counts(caller().account.id)


@blueprint.post("/seen")
@active_account_required
@scope(NOTIFICATIONS_WRITE, workspace=False)
@example(json=SHOWN, answer=SEEN)
@takes(json=Seen)
@answers(200, UnreadCount, ready=True)
def mark_seen(json: Seen.Input) -> Counts:
    """Record which items the caller has seen

    Items up to this one no longer count as `unseen`; they stay unread. An older item than before
    changes nothing.
    """
    return service(SeenMarks).mark(caller().account.id, json["id"])


for _method, _name in (("GET", "get_preferences"), ("PUT", "set_preferences")):
    _view = LazyView(f"preferences_routes.{_name}", __package__)
    blueprint.add_url_rule("/preferences", view_func=_view, methods=[_method])


@blueprint.patch("/mark-all")
@active_account_required
@scope(NOTIFICATIONS_WRITE, workspace=False)
@example(answer=MARKED)
@takes(query=Mark)
@answers(200, Message)
def mark_inbox(query: Mark.Input) -> dict[str, str]:
    """Mark all items as read or unread, or toggle each"""
    marked = service(Inbox).mark_all(caller().account.id, query["status"])
    return {"message": f"{marked} notifications marked"}


@blueprint.get("/<row_id:notification_id>")
@active_account_required
@scope(NOTIFICATIONS_READ, workspace=False)
@by_id
@example(answer=ITEM)
@raises(NotificationNotFound)
@answers(200, InboxItemRead, ready=True)
def get_inbox_item(notification_id: int) -> Item:
    """Get an inbox item"""
    return add_links([service(Inbox).get(caller().account.id, notification_id)])[0]


@blueprint.patch("/<row_id:notification_id>/mark")
@active_account_required
@scope(NOTIFICATIONS_WRITE, workspace=False)
@by_notification
@example(answer=READ_ITEM)
@raises(NotificationNotFound)
@takes(query=Mark)
@answers(200, InboxItemRead, ready=True)
def mark_inbox_item(notification_id: int, query: Mark.Input) -> Item:
    """Mark an inbox item as read or unread"""
    return add_links([service(Inbox).mark(caller().account.id, notification_id, query["status"])])[
        0
    ]


@blueprint.delete("/<row_id:notification_id>")
@active_account_required
@scope(NOTIFICATIONS_WRITE, workspace=False)
@by_id
@example(answer=ITEM)
@raises(NotificationNotFound)
@answers(200, InboxItemRead, ready=True)
def delete_inbox_item(notification_id: int) -> Item:
    """Delete and return an item of the caller's inbox"""
    return add_links([service(Inbox).delete(caller().account.id, notification_id)])[0]


blueprint.get("/element/<version>/inbox.js")(serve_script)
blueprint.get("/element/preferences")(open_preferences)
blueprint.record(add_template_global)
