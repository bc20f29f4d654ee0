"""The inbox of an account. Every statement has its receiver as a condition."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam, delete, update

from ..core.db.account_ids import MAX_ID
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession, execute_bulk, extended_timeout, transaction
from ..core.types import AccountKey
from ..core.web.responses import row_serializer
from .errors import NotificationNotFound
from .item_queries import UNREAD, Which, select_item, select_page, select_unread
from .models import InboxItem
from .personal import PersonalFields
from .schemas import InboxItemRow
from .shared_items import SharedItems

# Values that are serialized as JSON without a schema.
Item = dict[str, Any]


# The read schema decides which columns are shown.
_read_item = row_serializer(InboxItemRow)


def _pages(which: Which | None = None, *, has_offset: bool = False) -> Mapping[bool | None, Rows]:
    return {
        is_read: Rows(select_page(is_read, which, has_offset=has_offset))
        for is_read in (None, True, False)
    }


class Inbox:
    def __init__(self, session: AnySession, fields: PersonalFields) -> None:
        self.session = session
        self.fields = fields
        self.shared = SharedItems(session, fields.model)

    def page(
        self, receiver_id: AccountKey, *, offset: int, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        most = min(offset + limit, MAX_ID)
        rows = self._pages[is_read].read(
            self.session, receiver_id=receiver_id, offset=offset, limit=limit, most=most
        )
        return self._items(receiver_id, rows)

    def _items(self, receiver_id: AccountKey, rows: Iterable[Any]) -> list[Item]:
        items = [_read_item(row) for row in rows]
        # The mark of personal fields, so that items without it need no further query.
        marked = [each for each in items if "{{" in each["message"] or "{{" in each["title"]]
        if marked:
            self.fields.fill_items(self.session, receiver_id, marked)
        return items

    # Built when first used: building the queries takes a seventh of the time of `create_app`.
    @cached_property
    def _pages(self) -> Mapping[bool | None, Rows]:
        return _pages(has_offset=True)

    @cached_property
    def _item(self) -> Rows:
        return Rows(select_item())

    @cached_property
    def _unread(self) -> Rows:
        return Rows(select_unread())

    @cached_property
    def _older(self) -> Mapping[bool | None, Rows]:
        return _pages(lambda item_id: item_id < bindparam("before"))

    @cached_property
    def _newer(self) -> Mapping[bool | None, Rows]:
        return _pages(lambda item_id: item_id > bindparam("after"))

    def older(
        self, receiver_id: AccountKey, before: int, *, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        """Return the items before an item, which may be deleted. Unlike a page with an offset, a
        page far down costs the same as the first."""
        query = self._older[is_read]
        rows = query.read(self.session, receiver_id=receiver_id, before=before, limit=limit)
        return self._items(receiver_id, rows)

    def newer(
        self, receiver_id: AccountKey, after: int, *, limit: int, is_read: bool | None = None
    ) -> list[Item]:
        query = self._newer[is_read]
        rows = query.read(self.session, receiver_id=receiver_id, after=after, limit=limit)
        return self._items(receiver_id, rows)

    def unread(self, receiver_id: AccountKey) -> int:
        return int(self._unread.read(self.session, receiver_id=receiver_id)[0][0])

    def get(self, receiver_id: AccountKey, item_id: int) -> Item:
        rows = self._item.read(self.session, receiver_id=receiver_id, item_id=item_id)
        if not rows:
            raise NotificationNotFound
        return self._items(receiver_id, rows)[0]

    def mark(self, receiver_id: AccountKey, notification_id: int, is_read: bool | None) -> Item:
        """Mark the item of a notification, found by the notification's id; None toggles it."""
        statement = (
            update(InboxItem)
            .where(
                InboxItem.receiver_id == receiver_id, InboxItem.notification_id == notification_id
            )
            .values(is_read=UNREAD if is_read is None else is_read)
            .returning(InboxItem.id)
        )
        with transaction(self.session) as session:
            item_id = execute_bulk(session, statement).scalar_one_or_none()
            if item_id is None:
                item_id = self.shared.mark(receiver_id, notification_id, is_read)
            if item_id is None:
                raise NotificationNotFound
            return self.get(receiver_id, item_id)

    def mark_all(self, receiver_id: AccountKey, is_read: bool | None) -> int:
        """Mark the whole inbox, with one statement for its rows and one for shared broadcasts.
        Return the number of changed items."""
        statement = update(InboxItem).where(InboxItem.receiver_id == receiver_id)
        if is_read is None:
            statement = statement.values(is_read=UNREAD)
        else:
            differs = UNREAD if is_read else InboxItem.is_read
            statement = statement.where(differs).values(is_read=is_read)
        with transaction(self.session) as session, extended_timeout(self.session):
            changed = int(execute_bulk(session, statement).rowcount)
            return changed + self.shared.mark_all(receiver_id, is_read)

    def delete(self, receiver_id: AccountKey, item_id: int) -> Item:
        with transaction(self.session) as session:
            item = self.get(receiver_id, item_id)
            statement = delete(InboxItem).where(
                InboxItem.receiver_id == receiver_id, InboxItem.id == item_id
            )
            deleted = execute_bulk(session, statement).rowcount
            if not deleted and not self.shared.delete(receiver_id, item_id):
                raise NotificationNotFound  # another request has deleted it
            return item
