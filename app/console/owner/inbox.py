"""The owner's inbox, which the mail of a notification links to."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from marshmallow import fields, validate

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.web.fields import Received, Whole
from ...core.web.operation import hidden
from ...core.web.reading import takes
from ...notifications.inbox import Inbox, Item
from ..navigation import unread
from ..pages import fragment, page
from .messages import preview, with_links

AT_ONCE = 25
# As a filter of the service takes it.
_SHOWN = {"all": None, "unread": False}


class InboxView(Received):
    show = fields.String(load_default="all", validate=validate.OneOf(_SHOWN))
    before = Whole(load_default=None)


class NewSince(InboxView):
    after = Whole(required=True)


@active_account_required
@hidden
@takes(query=InboxView)
def dashboard(query: dict[str, Any]) -> Response:
    return page("owner/inbox.html", unread=unread(caller().account), **_page(query))


@active_account_required
@hidden
@takes(query=InboxView)
def older_items(query: dict[str, Any]) -> Response:
    """What comes below, for whoever has scrolled down there."""
    return fragment("owner/inbox_older.html", **_page(query))


@active_account_required
@hidden
@takes(query=NewSince)
def new_items(query: dict[str, Any]) -> Response:
    """What has come since the page was made: asked for again and again, and nearly always 304."""
    account, show = caller().account, query["show"]
    found = service(Inbox).newer(
        account.id, query["after"], limit=AT_ONCE + 1, is_read=_SHOWN[show]
    )
    left, newest = unread(account), found[0]["id"] if found else query["after"]
    tag = f'"{newest:x}-{len(found):x}-{left:x}"'
    if tag in request.headers.get("If-None-Match", ""):
        response = Response(status=304)
    else:
        response = fragment(
            "owner/inbox_new.html",
            items=found,
            unread=left,
            most=AT_ONCE,
            preview=preview,
            show=show,
        )
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@active_account_required
@hidden
def item_page(item_id: int) -> Response:
    item = service(Inbox).get(caller().account.id, item_id)
    return page("owner/inbox_message.html", at="dashboard", item=item, with_links=with_links)


def item_part(item: Item) -> Response:
    return fragment("owner/inbox_item.html", item=item, preview=preview)


def _page(query: dict[str, Any]) -> dict[str, Any]:
    """One more than is shown tells whether there is a further page."""
    inbox, me, before = service(Inbox), caller().account.id, query["before"]
    is_read, limit = _SHOWN[query["show"]], AT_ONCE + 1
    if before is None:
        found = inbox.page(me, offset=0, limit=limit, is_read=is_read)
    else:
        found = inbox.older(me, before, limit=limit, is_read=is_read)
    items = found[:AT_ONCE]
    return {
        "items": items,
        "show": query["show"],
        "before": before,
        "next_before": items[-1]["id"] if len(found) > AT_ONCE else None,
        "preview": preview,
    }
