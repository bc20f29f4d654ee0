"""The audit log for admins: the list with its search, and downloads."""

from collections.abc import Iterator
from functools import partial

from flask import Response

from ...core.context import service
from ..audit_filter import MAX_HITS, Hit
from ..audit_log import EntryList
from ..pages import render_page
from ..resources import ConsoleResources
from .accounts import find_accounts, people_of
from .filters import admins_only
from .finder import find_workspaces


@admins_only
def admin_events_page() -> Response:
    return _LIST.show(partial(render_page, "admin/events.html"))


@admins_only
def admin_events_file() -> Response:
    return _LIST.download("events.jsonl")


@admins_only
def admin_events_csv() -> Response:
    return _LIST.download("events.csv")


def _find(search: str) -> Iterator[Hit]:
    """Yield the accounts and workspaces with a text, as far as the application has their pages."""
    if service(ConsoleResources).features.has(".managed_accounts_page"):
        people = people_of(rows := find_accounts(search))
        for row in rows:
            person = people.get(row["id"])
            yield Hit("account", row["email"], row["email"], person.name or "" if person else "")
    for each in find_workspaces(search, MAX_HITS):
        yield Hit("workspace", str(each.id), each.name, each.slug)


_LIST = EntryList("admin_events", _find)
