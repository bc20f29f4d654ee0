"""Where an inbox item is read, marked and deleted.

An item has two ids, and each of these paths takes one of them: the wrong one names another item.
"""

from __future__ import annotations

from flask import request
from orjson import Fragment

from ..core.web.paging import own_path
from .inbox import Item


def linked(item: Item) -> Item:
    return all_linked([item])[0]


def all_linked(items: list[Item]) -> list[Item]:
    # Once for all of them, and as JSON: a page has hundreds, and objects would cost a third more.
    # A path is percent-encoded, so nothing in it needs more than its quotation marks.
    inbox = _inbox()
    for item in items:
        own = f'"{inbox}/{item["id"]}"'
        mark = f'"{inbox}/{item["notification_id"]}/mark"'
        item["links"] = Fragment(f'{{"self":{own},"mark":{mark},"delete":{own}}}')
    return items


def _inbox() -> str:
    """From the request's own path: only the host knows all that stands in front of it."""
    path = own_path().rstrip("/")
    if "notification_id" in (request.view_args or ()):
        path = path.removesuffix("/mark").rpartition("/")[0]
    return path
