"""What is done with what is in the inbox. With script a form changes the item where it stands;
without, it leads back to the list."""

from __future__ import annotations

import orjson
from flask import Response, request

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.errors import Conflict, Problem
from ...core.web.operation import hidden
from ...notifications import routes as inbox_api
from ...notifications.restoring import Restoring
from ..api_calls import ApiCall, calls_api
from ..navigation import count_again, unread
from ..pages import fragment
from ..texts import _, _n
from ..ways import Notice, Undo, asked_next, go, go_to, is_part, page_before, to
from .inbox import item_part


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
        service(Restoring).restore(caller().account.id, request.form.get("statement", ""))
    except Conflict as problem:
        return go_to(back, _(problem.detail), kind="info")
    except Problem as problem:
        return go_to(back, _(problem.detail), kind="error")
    return go_to(back, _("The message is back."))


def _back() -> str:
    """To the list as it was, whichever part of it that is."""
    return asked_next(page_before() or to(".dashboard"))


def _undo(item_id: int) -> Undo | None:
    statement = service(Restoring).statement(caller().account.id, item_id)
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
