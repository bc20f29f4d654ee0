"""Undo for deleted inbox items.

Nothing is stored: before the deletion the receiver gets a signed token with all columns of the
rows, and sends it back within ten minutes to have the same rows inserted again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, update

from ..auth.errors import InvalidProof
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..core.db.account_ids import serialize_id
from ..core.db.base import UtcDateTime, dialect_insert
from ..core.db.transaction import AnySession, execute_bulk, transaction
from ..core.types import AccountKey
from .errors import AlreadyRestored, NotificationNotFound, NotRestorable
from .models import InboxItem, Notification

SUBJECT_KIND = "inbox-item"
RESTORE_ITEM = Purpose("inbox-restore", timedelta(minutes=10))


@dataclass(eq=False)
class InboxUndo:
    session: AnySession
    proofs: Proofs

    def create_token(self, receiver_id: AccountKey, item_ids: Sequence[int]) -> str | None:
        """Return the signed rows of items before their deletion; None if none exists."""
        own = (InboxItem.receiver_id == receiver_id, InboxItem.id.in_(item_ids))
        found = self.session.execute(select(InboxItem.__table__).where(*own)).mappings()
        rows = [{name: _to_json(value) for name, value in row.items()} for row in found]
        return self.proofs.token(RESTORE_ITEM, _subject(rows)) if rows else None

    def restore(self, receiver_id: AccountKey, token: str) -> int:
        """Insert the rows of a token again and return their number."""
        try:
            signed = self.proofs.by_token(RESTORE_ITEM, SUBJECT_KIND, token, _subject)
        except InvalidProof:
            raise NotRestorable from None
        columns = InboxItem.__table__.columns
        # A token from before an upgrade that changed the columns: the rows are not complete.
        if not all(isinstance(row, Mapping) and row.keys() == {*columns.keys()} for row in signed):
            raise NotRestorable
        if any(row["receiver_id"] != serialize_id(receiver_id) for row in signed):
            raise NotificationNotFound
        rows = [{name: _from_json(columns[name], row[name]) for name in row} for row in signed]
        for row in rows:
            row["receiver_id"] = receiver_id
        with transaction(self.session) as session:
            # A sender may have deleted a notification, or may delete it at the same time.
            sent = Notification.id.in_([row["notification_id"] for row in rows])
            lock = update(Notification).where(sent).values(id=Notification.id)
            kept = set(execute_bulk(session, lock.returning(Notification.id)).scalars())
            values = [row for row in rows if row["notification_id"] in kept]
            if not values:
                raise NotificationNotFound
            insert = dialect_insert(session.get_bind().dialect)(InboxItem).values(values)
            added = insert.on_conflict_do_nothing().returning(InboxItem.id)
            restored = len(session.scalars(added).all())
            if not restored:
                raise AlreadyRestored
            return restored


def _to_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, bool) else serialize_id(value)


def _from_json(column: ColumnElement[Any], value: Any) -> Any:
    if value is not None and isinstance(column.type, UtcDateTime):
        return datetime.fromisoformat(value)
    return value


def _subject(rows: object) -> ProofSubject[Any]:
    return ProofSubject(SUBJECT_KIND, rows, (), rows)
