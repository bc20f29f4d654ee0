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
from ...notifications.inbox import Item
from ...notifications.restoring import Restoring
from ..actions import Perform, performs
from ..notices import Notice, Undo
from ..pages import fragment
from ..texts import _, _n
from ..unread import count_again, unread
from ..ways import asked_next, go, go_to, is_part, page_before, to
from .inbox import item_part


@performs("notifications.routes.mark_inbox_item")
def open_item(perform: Perform, notification_id: int) -> Response:
    """A message is read when somebody opens it, and a GET changes nothing."""
    item = perform(query={"status": True})
    return go(".item_page", item_id=item["id"])


@performs("notifications.routes.mark_inbox_item")
def mark_item(perform: Perform, notification_id: int) -> Response:
    item = perform()
    if is_part():
        return _with_unread(item_part(item))
    return go_to(_back())


@performs("notifications.routes.mark_inbox")
def mark_all_items(perform: Perform) -> Response:
    waiting = unread(caller().account)
    perform(query={"status": True})
    return go(
        ".dashboard", _n("One message marked as read.", "{n} messages marked as read.", waiting)
    )


@performs("notifications.routes.delete_inbox_item")
def delete_item(perform: Perform, notification_id: int) -> Response:
    deleted = perform()
    said = Notice(_("Message deleted."), undo=_undo(deleted))
    if is_part():
        return _with_unread(fragment("owner/inbox_deleted.html", said=said))
    return go_to(_back(), said.text, undo=said.undo)


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


def _undo(deleted: Item) -> Undo:
    statement = service(Restoring).statement(deleted)
    fields = {"statement": statement, "next": _back()}
    return Undo(to(".restore_item"), fields)


def _with_unread(response: Response) -> Response:
    """For the title and the navigation, which are not in the part."""
    count_again()
    left = unread(caller().account)
    response.headers["HX-Trigger"] = orjson.dumps({"fd:unread": left}).decode()
    return response
