"""The owner's inbox, which the mail of a notification links to."""

import re
from typing import NamedTuple, TypedDict

import orjson
from flask import Response, request
from markupsafe import Markup
from marshmallow import fields, validate

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.errors import Conflict, Problem
from ...core.types import JsonObject
from ...core.web.fields import RequestSchema, StrictInteger
from ...core.web.operation import hidden
from ...core.web.request_data import takes
from ...delivery.mail.markup import linked
from ...notifications import routes as inbox_api
from ...notifications.inbox import Inbox, Item
from ...notifications.undo import InboxUndo
from ..api_calls import ApiCall, calls_api
from ..navigation import count_again, unread
from ..pages import fragment, page
from ..texts import _, _n
from ..ways import Notice, Undo, asked_next, go, go_to, is_part, page_before, to

# Not taken for one of our own pages, wherever it leads.
_LINK = Markup('<a class="above" href="{0}" rel="noreferrer nofollow" hx-boost="false">{0}</a>')
SHOWN = 280
_SPACE = re.compile(r"\s+")


class Preview(NamedTuple):
    """A message on a page: with its links, and cut short where it stands among others."""

    text: Markup
    is_cut: bool


def with_links(message: str) -> Markup:
    return linked(message, _LINK)


def preview(message: str) -> Preview:
    """Its beginning, in one piece; an address is shown whole or not at all."""
    text = _SPACE.sub(" ", message).strip()
    if len(text) <= SHOWN:
        return Preview(with_links(text), False)
    words, space, _rest = text[: SHOWN + 1].rpartition(" ")
    if not space:
        # One long word: as an address it would lead elsewhere when it is cut.
        return Preview(Markup("{}…").format(text[:SHOWN]), True)
    return Preview(with_links(words) + "…", True)


AT_ONCE = 25
# As a filter of the service takes it.
_SHOWN = {"all": None, "unread": False}


class InboxView(RequestSchema):
    class Input(TypedDict):
        show: str
        before: int | None

    show = fields.String(load_default="all", validate=validate.OneOf(_SHOWN))
    before = StrictInteger(load_default=None)


class NewSince(InboxView):
    class Input(InboxView.Input):
        after: int

    after = StrictInteger(required=True)


@active_account_required
@hidden
@takes(query=InboxView)
def dashboard(query: InboxView.Input) -> Response:
    return page("owner/inbox.html", unread=unread(caller().account), **_page(query))


@active_account_required
@hidden
@takes(query=InboxView)
def older_items(query: InboxView.Input) -> Response:
    """What comes below, for whoever has scrolled down there."""
    return fragment("owner/inbox_older.html", **_page(query))


@active_account_required
@hidden
@takes(query=NewSince)
def new_items(query: NewSince.Input) -> Response:
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


def _page(query: InboxView.Input) -> JsonObject:
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


@calls_api(inbox_api.mark_inbox_item)
def open_item(call_api: ApiCall, notification_id: int) -> Response:
    """A message is read when somebody opens it, and a GET changes nothing."""
    item = call_api(query={"status": True})
    return go(".item_page", item_id=item["id"])


@calls_api(inbox_api.mark_inbox_item)
def mark_item(call_api: ApiCall, notification_id: int) -> Response:
    item = call_api()
    if is_part():
        return _with_unread(item_part(item))
    return go_to(_back())


@calls_api(inbox_api.mark_inbox)
def mark_all_items(call_api: ApiCall) -> Response:
    waiting = unread(caller().account)
    call_api(query={"status": True})
    return go(
        ".dashboard", _n("One message marked as read.", "{n} messages marked as read.", waiting)
    )


@calls_api(inbox_api.delete_inbox_item)
def delete_item(call_api: ApiCall, notification_id: int) -> Response:
    # Before the deletion, while the row can still be read.
    undo = _undo(notification_id)
    call_api()
    said = Notice(_("Message deleted."), undo=undo)
    if is_part():
        return _with_unread(fragment("owner/inbox_deleted.html", said=said))
    return go_to(_back(), said.text, undo=undo)


@active_account_required
@hidden
def restore_item() -> Response:
    """Opens no more than the deletion did: who has deleted a row brings back that very row."""
    back = _back()
    try:
        service(InboxUndo).restore(caller().account.id, request.form.get("statement", ""))
    except Conflict as problem:
        return go_to(back, _(problem.detail), kind="info")
    except Problem as problem:
        return go_to(back, _(problem.detail), kind="error")
    return go_to(back, _("Message restored."))


def _back() -> str:
    """To the list as it was, whichever part of it that is."""
    return asked_next(page_before() or to(".dashboard"))


def _undo(item_id: int) -> Undo | None:
    statement = service(InboxUndo).create_token(caller().account.id, item_id)
    if statement is None:
        return None
    fields = {"statement": statement, "next": _back()}
    return Undo(to(".restore_item"), fields)


def _with_unread(response: Response) -> Response:
    """For the title and the navigation, which are not in the part."""
    count_again()
    left = unread(caller().account)
    response.headers["HX-Trigger"] = orjson.dumps({"fd:unread": left}).decode()
    return response
