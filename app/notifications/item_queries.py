"""Queries for the items of an inbox: its rows, and the shared broadcasts, which have no row until
the recipient reads or deletes them."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    ColumnExpressionArgument,
    Select,
    SQLColumnExpression,
    Subquery,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from ..core.web.responses import field_names
from .models import InboxItem, Notification, SharedBroadcast, SharedItem
from .schemas import InboxItemRow

RECEIVER = bindparam("receiver_id", type_=InboxItem.receiver_id.type)
UNREAD = not_(InboxItem.is_read)

# Queries and columns of several types.
Query = Select[Any]
Column = SQLColumnExpression[Any]
Condition = ColumnExpressionArgument[bool]
# The condition for an item, given its id.
Which = Callable[[Column], Condition]


class JsonText(TypeDecorator[Any]):
    """A JSON column read as text, since orjson parses it faster than the database's driver."""

    impl = Text
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        return orjson.loads


# The condition for unread items is that of the partial index, which is only then used.
_FILTERS: Mapping[bool | None, tuple[Condition, ...]] = {
    None: (),
    True: (InboxItem.is_read,),
    False: (UNREAD,),
}
_IS_READ = func.coalesce(SharedItem.is_read, false())
_SHARED_FILTERS: Mapping[bool | None, tuple[Condition, ...]] = {
    None: (),
    True: (_IS_READ,),
    False: (not_(_IS_READ),),
}


def _own_rows(receiver: object, is_read: bool | None) -> Query:
    columns: tuple[Column, ...] = (InboxItem.id, InboxItem.notification_id, InboxItem.receiver_id)
    rows = select(*columns, InboxItem.is_read)
    return rows.where(InboxItem.receiver_id == receiver, *_FILTERS[is_read])


def _shared(receiver: object, is_read: bool | None) -> Query:
    state = and_(SharedItem.item_id == SharedBroadcast.item_id, SharedItem.receiver_id == receiver)
    shared: Query = (
        select(
            SharedBroadcast.item_id.label("id"),
            SharedBroadcast.notification_id,
            type_coerce(receiver, InboxItem.receiver_id.type).label("receiver_id"),
            _IS_READ.label("is_read"),
        )
        .outerjoin(SharedItem, state)
        .where(
            SharedBroadcast.through_id >= receiver,
            or_(SharedItem.is_deleted.is_(None), not_(SharedItem.is_deleted)),
            *_SHARED_FILTERS[is_read],
        )
    )
    return shared


def select_items(receiver: object, which: Which | None = None) -> Subquery:
    """Return the items of an inbox, with the columns of an inbox row."""
    own, shared = _own_rows(receiver, None), _shared(receiver, None)
    if which is not None:
        own = own.where(which(InboxItem.id))
        shared = shared.where(which(SharedBroadcast.item_id))
    return union_all(own, shared).subquery("items")


def select_page(
    is_read: bool | None, which: Which | None = None, *, has_offset: bool = False
) -> Query:
    """Return the query for a page, the newest items first. With an offset, the parameter `most` is
    the sum of the offset and the limit."""
    parts = []
    for rows, item_id in (
        (_own_rows(RECEIVER, is_read), InboxItem.id),
        (_shared(RECEIVER, is_read), SharedBroadcast.item_id),
    ):
        found = rows if which is None else rows.where(which(item_id))
        # With its limit, each part is read in the order of an index and only as far as needed.
        newest = found.order_by(item_id.desc()).limit(bindparam("most" if has_offset else "limit"))
        parts.append(newest.subquery().select())
    items = union_all(*parts).subquery("items")
    page: Query = _with_notifications(items).order_by(items.c.id.desc())
    page = page.limit(bindparam("limit"))
    return page.offset(bindparam("offset")) if has_offset else page


def select_item() -> Query:
    """Return the query for the item of the parameters `receiver_id` and `item_id`."""
    item_id: BindParameter[int] = bindparam("item_id", type_=InboxItem.id.type)
    return _with_notifications(select_items(RECEIVER, lambda each: each == item_id))


def _with_notifications(items: Subquery) -> Query:
    """Select what the read schema shows: columns of the item's row or of its notification."""

    def column(name: str) -> Column:
        if name == "channels":
            return cast(Notification.channels, JsonText).label(name)
        return items.c[name] if name in items.c else getattr(Notification, name)

    columns = (column(name) for name in field_names(InboxItemRow))
    return select(*columns).join(Notification, Notification.id == items.c.notification_id)


def is_settled(receiver: object) -> ColumnElement[bool]:
    """Return the condition that a receiver has read or deleted a shared broadcast."""
    return exists().where(
        SharedItem.receiver_id == receiver,
        SharedItem.item_id == SharedBroadcast.item_id,
        or_(SharedItem.is_read, SharedItem.is_deleted),
    )


def select_unread() -> Select[int]:
    """Return the query for the number of unread items of the parameter `receiver_id`."""
    rows = select(func.count()).select_from(InboxItem)
    shared = select(func.count()).select_from(SharedBroadcast)
    return select(
        rows.where(InboxItem.receiver_id == RECEIVER, UNREAD).scalar_subquery()
        + shared.where(
            SharedBroadcast.through_id >= RECEIVER, ~is_settled(RECEIVER)
        ).scalar_subquery()
    )
