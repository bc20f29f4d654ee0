"""The state of shared broadcasts in an inbox. Every statement has its receiver as a condition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, insert, literal, not_, select, update

from ..core.db.base import dialect_insert
from ..core.db.id_lists import id_list
from ..core.db.transaction import AnySession, execute_bulk
from ..core.types import AccountKey, AccountModel
from .item_queries import Query, is_settled
from .models import SharedBroadcast, SharedItem

_COLUMNS = (SharedItem.receiver_id, SharedItem.item_id, SharedItem.is_read, SharedItem.is_deleted)
_IS_THERE = not_(SharedItem.is_deleted)


@dataclass(frozen=True)
class SharedItems:
    session: AnySession
    account_model: AccountModel

    def mark(
        self, receiver_id: AccountKey, notification_id: int, is_read: bool | None
    ) -> int | None:
        """Mark the item of a notification; None toggles it. Return the id of the item."""
        found = self._received(
            receiver_id, SharedBroadcast.notification_id == notification_id, is_read=is_read
        )
        marked = self._upsert(found, _IS_THERE, is_read=_new_state(is_read))
        item_id: int | None = self.session.scalar(marked.returning(SharedItem.item_id))
        return item_id

    def mark_all(self, receiver_id: AccountKey, is_read: bool | None) -> int:
        """Mark all items and return the number of changed items."""
        if is_read is False:
            # Items without a state are unread.
            is_changed = (SharedItem.receiver_id == receiver_id, SharedItem.is_read, _IS_THERE)
            marked = update(SharedItem).where(*is_changed).values(is_read=False)
            return int(execute_bulk(self.session, marked).rowcount)
        differs = _IS_THERE if is_read is None else _IS_THERE & not_(SharedItem.is_read)
        # Without unread items, this statement locks and writes nothing.
        unread = () if is_read is None else (~is_settled(receiver_id),)
        found = self._received(receiver_id, *unread, is_read=is_read)
        return self._count(self._upsert(found, differs, is_read=_new_state(is_read)))

    def delete(self, receiver_id: AccountKey, item_id: int) -> bool:
        """Delete an item and return whether it existed."""
        found = self._received(
            receiver_id, SharedBroadcast.item_id == item_id, is_read=False, is_deleted=True
        )
        return self._count(self._upsert(found, _IS_THERE, is_deleted=True)) > 0

    def is_shared(self, item_id: int) -> bool:
        known = select(SharedBroadcast.item_id).where(SharedBroadcast.item_id == item_id)
        return self.session.scalar(known) is not None

    def restore(self, receiver_id: AccountKey, item_id: int, is_read: bool) -> bool:
        """Restore a deleted item and return whether it was deleted."""
        is_deleted = (
            SharedItem.receiver_id == receiver_id,
            SharedItem.item_id == item_id,
            SharedItem.is_deleted,
        )
        restored = update(SharedItem).where(*is_deleted).values(is_read=is_read, is_deleted=False)
        return bool(execute_bulk(self.session, restored).rowcount)

    def hide_past(self, receiver_ids: Sequence[AccountKey]) -> None:
        """Mark the broadcasts of the past as deleted for new accounts, whose ids the database has
        not assigned: such an id can be that of a recipient."""
        account_id = self.account_model.id
        ids = id_list(receiver_ids, account_id.type, self.session.get_bind().dialect)
        past = (
            select(account_id, SharedBroadcast.item_id, literal(False), literal(True))
            .join(SharedBroadcast, SharedBroadcast.through_id >= account_id)
            .where(account_id.in_(select(ids)))
            # A broadcast that another request deletes must not be referred to.
            .with_for_update(read=True, key_share=True, of=SharedBroadcast)
        )
        execute_bulk(self.session, insert(SharedItem).from_select(_COLUMNS, past))

    def _received(
        self,
        receiver_id: AccountKey,
        *conditions: ColumnElement[bool],
        is_read: bool | None,
        is_deleted: bool = False,
    ) -> Query:
        """Select new states of the broadcasts that an account has received."""
        account_id = self.account_model.id
        state = (literal(is_read is not False), literal(is_deleted))
        return (
            select(account_id, SharedBroadcast.item_id, *state)
            .join(SharedBroadcast, SharedBroadcast.through_id >= account_id)
            .where(account_id == receiver_id, *conditions)
            .order_by(SharedBroadcast.item_id)
            # A broadcast or an account that another request deletes must not be referred to.
            .with_for_update(read=True, key_share=True)
        )

    def _upsert(self, rows: Query, is_changed: ColumnElement[bool], **values: object) -> Any:
        insert = dialect_insert(self.session.get_bind().dialect)(SharedItem)
        return insert.from_select(_COLUMNS, rows).on_conflict_do_update(
            index_elements=[SharedItem.receiver_id, SharedItem.item_id],
            set_=values,
            where=is_changed,
        )

    def _count(self, statement: Any) -> int:
        options = {"preserve_rowcount": True}
        result: Any = self.session.execute(statement.inline(), execution_options=options)
        return int(result.rowcount)


def _new_state(is_read: bool | None) -> object:
    return not_(SharedItem.is_read) if is_read is None else is_read
