"""The inbox of an account. Every statement has its receiver as a condition."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import orjson
from sqlalchemy import Select, Text, bindparam, cast, delete, func, not_, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from ..core.db.rows import Rows
from ..core.db.transaction import AnySession, execute_bulk, extended_timeout, transaction
from ..core.types import AccountKey
from ..core.web.responses import field_names, row_serializer
from .errors import NotificationNotFound
from .models import InboxItem, Notification
from .schemas import InboxItemRow

# Values that are serialized as JSON without a schema.
Item = dict[str, Any]


class JsonText(TypeDecorator[Any]):
    """A JSON column read as text, since orjson parses it faster than the database's driver."""

    impl = Text
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        return orjson.loads


def _column(name: str) -> Any:
    """Return the column of the item's row or of its notification."""
    if name == "channels":
        return cast(Notification.channels, JsonText).label(name)
    return getattr(InboxItem if hasattr(InboxItem, name) else Notification, name)


# The read schema decides which columns are shown.
_read_item = row_serializer(InboxItemRow)
_UNREAD = not_(InboxItem.is_read)

_ITEMS: Any = (
    select(*(_column(name) for name in field_names(InboxItemRow)))
    .join(Notification, Notification.id == InboxItem.notification_id)
    .where(InboxItem.receiver_id == bindparam("receiver_id"))
)


# The condition for unread items is that of the partial index, which is only then used.
_FILTERS: Mapping[bool | None, tuple[Any, ...]] = {
    None: (),
    True: (InboxItem.is_read,),
    False: (_UNREAD,),
}


def _page(*conditions: object) -> Select[Any]:
    newest_first = _ITEMS.where(*conditions).order_by(InboxItem.id.desc())
    page: Select[Any] = newest_first.limit(bindparam("limit"))
    return page


def _pages(*conditions: object) -> Mapping[bool | None, Rows]:
    return {is_read: Rows(_page(*where, *conditions)) for is_read, where in _FILTERS.items()}


class Inbox:
    def __init__(self, session: AnySession) -> None:
        self.session = session
        self._pages = {
            is_read: Rows(_page(*where).offset(bindparam("offset")))
            for is_read, where in _FILTERS.items()
        }
        self._item = Rows(_ITEMS.where(InboxItem.id == bindparam("item_id")))
        self._unread = Rows(
            select(func.count())
            .select_from(InboxItem)
            .where(InboxItem.receiver_id == bindparam("receiver_id"), _UNREAD)
        )

    def page(
        self, receiver_id: AccountKey, *, offset: int, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        rows = self._pages[is_read].read(
            self.session, receiver_id=receiver_id, offset=offset, limit=limit
        )
        return [_read_item(row) for row in rows]

    @cached_property
    def _older(self) -> Mapping[bool | None, Rows]:
        return _pages(InboxItem.id < bindparam("before"))

    @cached_property
    def _newer(self) -> Mapping[bool | None, Rows]:
        return _pages(InboxItem.id > bindparam("after"))

    def older(
        self, receiver_id: AccountKey, before: int, *, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        """Return the items before an item, which may be deleted. Unlike a page with an offset, a
        page far down costs the same as the first."""
        query = self._older[is_read]
        rows = query.read(self.session, receiver_id=receiver_id, before=before, limit=limit)
        return [_read_item(row) for row in rows]

    def newer(
        self, receiver_id: AccountKey, after: int, *, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        query = self._newer[is_read]
        rows = query.read(self.session, receiver_id=receiver_id, after=after, limit=limit)
        return [_read_item(row) for row in rows]

    def unread(self, receiver_id: AccountKey) -> int:
        return int(self._unread.read(self.session, receiver_id=receiver_id)[0][0])

    def get(self, receiver_id: AccountKey, item_id: int) -> Item:
        rows = self._item.read(self.session, receiver_id=receiver_id, item_id=item_id)
        if not rows:
            raise NotificationNotFound
        return _read_item(rows[0])

    def mark(self, receiver_id: AccountKey, notification_id: int, is_read: bool | None) -> Item:
        """Mark the item of a notification, found by the notification's id; None toggles it."""
        statement = (
            update(InboxItem)
            .where(
                InboxItem.receiver_id == receiver_id, InboxItem.notification_id == notification_id
            )
            .values(is_read=_UNREAD if is_read is None else is_read)
            .returning(InboxItem.id)
        )
        with transaction(self.session) as session:
            item_id = execute_bulk(session, statement).scalar_one_or_none()
            if item_id is None:
                raise NotificationNotFound
            return self.get(receiver_id, item_id)

    def mark_all(self, receiver_id: AccountKey, is_read: bool | None) -> int:
        """Mark the whole inbox with one statement and return the number of changed items."""
        statement = update(InboxItem).where(InboxItem.receiver_id == receiver_id)
        if is_read is None:
            statement = statement.values(is_read=_UNREAD)
        else:
            differs = _UNREAD if is_read else InboxItem.is_read
            statement = statement.where(differs).values(is_read=is_read)
        with transaction(self.session) as session, extended_timeout(self.session):
            return int(execute_bulk(session, statement).rowcount)

    def delete(self, receiver_id: AccountKey, item_id: int) -> Item:
        with transaction(self.session) as session:
            item = self.get(receiver_id, item_id)
            statement = delete(InboxItem).where(
                InboxItem.receiver_id == receiver_id, InboxItem.id == item_id
            )
            if not execute_bulk(session, statement).rowcount:
                raise NotificationNotFound  # another request has deleted it
            return item
