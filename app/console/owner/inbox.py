"""The owner's inbox, which notification emails link to."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, NotRequired, TypedDict

import orjson
from flask import Response, request
from markupsafe import Markup
from marshmallow import fields, validate

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.errors import Conflict, Problem
from ...core.types import AccountKey, JsonObject
from ...core.web.fields import RequestSchema, StrictInteger, Text
from ...core.web.replicas import reads_replica
from ...core.web.request_data import load_body, takes
from ...delivery.mail.markup import linked
from ...notifications import routes as inbox_api
from ...notifications.errors import NotificationNotFound
from ...notifications.inbox import Inbox, Item
from ...notifications.kinds import INAPP, NotificationKinds
from ...notifications.undo import InboxUndo
from ...workspaces.service import Workspaces
from ..api_calls import ApiCall, console_form
from ..error_texts import message_for
from ..links import (
    Notice,
    Undo,
    is_fragment_request,
    link_to,
    next_path,
    previous_path,
    redirect,
    redirect_to,
)
from ..navigation import reset_unread_count, unread_count
from ..pages import render_fragment, render_page
from ..texts import _, _n

# Links in messages: no referrer, and not loaded by htmx.
_LINK = Markup('<a class="above" href="{0}" rel="noreferrer nofollow" hx-boost="false">{0}</a>')
PREVIEW_LENGTH = 280
_SPACE = re.compile(r"\s+")


class Preview(NamedTuple):
    """The start of a message in a list, with links."""

    text: Markup
    is_cut: bool


def with_links(message: str) -> Markup:
    return linked(message, _LINK)


def preview(message: str) -> Preview:
    """Return the start of a message; a URL is shown in full or not at all."""
    text = _SPACE.sub(" ", message).strip()
    if len(text) <= PREVIEW_LENGTH:
        return Preview(with_links(text), False)
    words, space, _rest = text[: PREVIEW_LENGTH + 1].rpartition(" ")
    if not space:
        # One long word without a link: a truncated URL would lead elsewhere.
        return Preview(Markup("{}…").format(text[:PREVIEW_LENGTH]), True)
    return Preview(with_links(words) + "…", True)


PER_PAGE = 25
# The value of `is_read` for each tab.
_READ_FILTERS = {"all": None, "unread": False}


# The parameters that choose the items of a list, besides its tab.
_FILTERS = ("kind", "sender", "workspace")


class InboxQuery(RequestSchema):
    class Input(TypedDict):
        show: str
        before: int | None
        kind: NotRequired[str]
        sender: NotRequired[str]
        workspace: NotRequired[str]

    kind = Text(max=100)
    sender = Text(max=100)
    workspace = Text(max=100)
    show = fields.String(load_default="all", validate=validate.OneOf(_READ_FILTERS))
    before = StrictInteger(load_default=None)


class NewItemsQuery(InboxQuery):
    class Input(InboxQuery.Input):
        after: int

    after = StrictInteger(required=True)


class SelectedItems(RequestSchema):
    class Input(TypedDict):
        item: list[int]

    item = fields.List(StrictInteger(), load_default=list, validate=validate.Length(max=1_000))


@active_account_required
@takes(query=InboxQuery)
def dashboard(query: InboxQuery.Input) -> Response:
    kinds = service(NotificationKinds).values()
    return render_page(
        "owner/inbox.html",
        unread=unread_count(caller().account),
        kinds=[kind.key for kind in kinds if not kind.excluded([INAPP])],
        **_list_context(query),
    )


@active_account_required
@takes(query=InboxQuery)
def older_items(query: InboxQuery.Input) -> Response:
    """Return older messages, for users who scroll to the end of the list."""
    return render_fragment("owner/inbox_older.html", **_list_context(query))


@active_account_required
@takes(query=NewItemsQuery)
def new_items(query: NewItemsQuery.Input) -> Response:
    """Return messages newer than the page; the page polls, and the response is usually 304."""
    account = caller().account
    found = _newer(account.id, query)
    left, newest = unread_count(account), found[0]["id"] if found else query["after"]
    tag = f'"{newest:x}-{len(found):x}-{left:x}"'
    if tag in request.headers.get("If-None-Match", ""):
        response = Response(status=304)
    else:
        response = render_fragment(
            "owner/inbox_new.html", unread=left, most=PER_PAGE, **_rows_context(found, query)
        )
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@reads_replica
def _newer(account_id: AccountKey, query: NewItemsQuery.Input) -> list[Item]:
    is_read, filters = _READ_FILTERS[query["show"]], _filters(query)
    return service(Inbox).page(
        account_id, after=query["after"], limit=PER_PAGE + 1, is_read=is_read, **filters
    )


def _filters(query: InboxQuery.Input) -> JsonObject:
    values = {name: query.get(name) for name in _FILTERS}
    return {name: value for name, value in values.items() if value}


def _rows_context(items: list[Item], query: InboxQuery.Input, *opened: Item) -> JsonObject:
    """Return what the template of the rows needs, and of the opened message."""
    ids = [item["workspace_id"] for item in (*items, *opened)]
    show, filters = query["show"], _filters(query)
    return {
        "items": items,
        "show": show,
        "filters": filters,
        # The parameters of the list's URL.
        "chosen": filters if show == "all" else {**filters, "show": show},
        "workspaces": service(Workspaces).of_member(caller().account.id, ids),
        "preview": preview,
    }


@active_account_required
@takes(query=InboxQuery)
def item_page(query: InboxQuery.Input, item_id: int) -> Response:
    """Show a message, and next to it the newest page of its list or the page that it begins."""
    item = service(Inbox).get(caller().account.id, item_id)
    is_read, filters = _READ_FILTERS[query["show"]], _filters(query)
    newer, older = service(Inbox).neighbors(caller().account.id, item_id, is_read, **filters)
    listed = _list_context(query, item)
    if listed["next_before"] and item_id < listed["next_before"]:
        listed = _list_context({**query, "before": item_id + 1}, item)
    return render_page(
        "owner/inbox_message.html",
        at="dashboard",
        item=item,
        opened=item_id,
        newer=newer,
        older=older,
        with_links=with_links,
        **listed,
    )


def _item_fragment(item: Item) -> Response:
    query: InboxQuery.Input = {"show": "all", "before": None}
    return render_fragment("owner/inbox_item.html", item=item, **_rows_context([item], query))


@reads_replica
def _list_context(query: InboxQuery.Input, *opened: Item) -> JsonObject:
    """Return the messages of a page. One more is read to find out whether a next page exists."""
    before, is_read, filters = query["before"], _READ_FILTERS[query["show"]], _filters(query)
    found = service(Inbox).page(
        caller().account.id, before=before, limit=PER_PAGE + 1, is_read=is_read, **filters
    )
    items = found[:PER_PAGE]
    return {
        **_rows_context(items, query, *opened),
        "before": before,
        "next_before": items[-1]["id"] if len(found) > PER_PAGE else None,
    }


@console_form(inbox_api.mark_inbox_item)
def open_item(call_api: ApiCall, notification_id: int) -> Response:
    """Mark the message as read and open it; a GET request must not change it."""
    return _show_item(call_api(query={"status": True}))


def _show_item(item: Item, text: str = "", undo: Undo | None = None) -> Response:
    """Return the redirect to a message, with the filters of the list that is next to it."""
    names = {"show", *_FILTERS}
    chosen = {name: value for name, value in request.args.items() if name in names}
    return redirect(link_to(".item_page", item_id=item["id"], **chosen), text, undo=undo)


@console_form(inbox_api.mark_inbox_item)
def mark_item(call_api: ApiCall, notification_id: int) -> Response:
    item = call_api()
    if is_fragment_request():
        return _with_unread_count(_item_fragment(item))
    return redirect(_list_path())


@console_form(inbox_api.mark_inbox)
def mark_all_items(call_api: ApiCall) -> Response:
    count = unread_count(caller().account)
    call_api(query={"status": True})
    return redirect_to(".dashboard", _marked(count))


@console_form()
@active_account_required
@takes(form=SelectedItems)
def mark_selected_items(form: SelectedItems.Input) -> Response:
    count = service(Inbox).mark_all(caller().account.id, True, form["item"])
    return redirect(_list_path(), _marked(count))


@console_form()
@active_account_required
@takes(form=SelectedItems)
def delete_selected_items(form: SelectedItems.Input) -> Response:
    undo = _undo(form["item"])
    count = service(Inbox).delete_all(caller().account.id, form["item"])
    return redirect(
        _list_path(), _n("One message deleted.", "{n} messages deleted.", count), undo=undo
    )


def _marked(count: int) -> str:
    return _n("One message marked as read.", "{n} messages marked as read.", count)


@console_form(inbox_api.delete_inbox_item)
def delete_item(call_api: ApiCall, notification_id: int) -> Response:
    # Before the deletion, while the row can still be read.
    undo = _undo([notification_id])
    # The notification to open next, of a message next to its list.
    then = load_body(SelectedItems, {"item": request.form.getlist("then")})["item"]
    call_api()
    notice = Notice(_("Message deleted."), undo=undo)
    if then:
        with suppress(NotificationNotFound):
            item = service(Inbox).mark(caller().account.id, then[0], True)
            return _show_item(item, notice.text, undo)
    if is_fragment_request():
        return _with_unread_count(render_fragment("owner/inbox_deleted.html", notice=notice))
    return redirect(_list_path(), notice.text, undo=undo)


@console_form()
@active_account_required
def restore_item() -> Response:
    """Undo a deletion; the signed statement allows only the caller to restore these messages."""
    back = _list_path()
    try:
        statement = request.form.get("statement", "")
        count = service(InboxUndo).restore(caller().account.id, statement)
    except Conflict as problem:
        return redirect(back, message_for(problem), kind="info")
    except Problem as problem:
        return redirect(back, message_for(problem), kind="error")
    return redirect(back, _n("Message restored.", "{n} messages restored.", count))


def _list_path() -> str:
    """Return the path of the list that the user came from."""
    return next_path(previous_path() or link_to(".dashboard"))


def _undo(item_ids: Sequence[int]) -> Undo | None:
    statement = service(InboxUndo).create_token(caller().account.id, item_ids)
    if statement is None:
        return None
    fields = {"statement": statement, "next": _list_path()}
    return Undo(link_to(".restore_item"), fields)


def _with_unread_count(response: Response) -> Response:
    """Send the unread count for the title and the navigation, which are not in the part."""
    reset_unread_count()
    left = unread_count(caller().account)
    response.headers["HX-Trigger"] = orjson.dumps({"fd:unread": left}).decode()
    return response
