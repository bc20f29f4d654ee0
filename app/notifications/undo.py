"""Undo for a deleted inbox item.

Nothing is stored: before the deletion the receiver gets a signed token with all columns of the row,
and sends it back within ten minutes to have the same row inserted again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select

from ..auth.errors import InvalidProof
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..core.db.account_ids import serialize_id
from ..core.db.base import UtcDateTime
from ..core.db.transaction import AnySession, insert_new, lock_or_raise, transaction
from ..core.types import AccountKey
from .errors import AlreadyRestored, NotificationNotFound, NotRestorable
from .inbox import Inbox, Item
from .models import InboxItem, Notification

SUBJECT_KIND = "inbox-item"
RESTORE_ITEM = Purpose("inbox-restore", timedelta(minutes=10))


@dataclass(eq=False)
class InboxUndo:
    session: AnySession
    inbox: Inbox
    proofs: Proofs

    def create_token(self, receiver_id: AccountKey, item_id: int) -> str | None:
        """Return the signed row of an item before its deletion; None if it does not exist."""
        own = (InboxItem.receiver_id == receiver_id, InboxItem.id == item_id)
        row = self.session.execute(select(InboxItem.__table__).where(*own)).one_or_none()
        if row is None:
            return None
        columns = {name: _to_json(value) for name, value in row._mapping.items()}
        return self.proofs.token(RESTORE_ITEM, _subject(columns))

    def restore(self, receiver_id: AccountKey, token: str) -> Item:
        """Insert the row of a token again and return the item."""
        try:
            signed = self.proofs.by_token(RESTORE_ITEM, SUBJECT_KIND, token, _subject)
        except InvalidProof:
            raise NotRestorable from None
        columns = InboxItem.__table__.columns
        # A token from before an upgrade that changed the columns: the row is not complete.
        if not isinstance(signed, Mapping) or signed.keys() != set(columns.keys()):
            raise NotRestorable
        if signed["receiver_id"] != serialize_id(receiver_id):
            raise NotificationNotFound
        values = {name: _from_json(columns[name], value) for name, value in signed.items()}
        values["receiver_id"] = receiver_id
        with transaction(self.session) as session:
            # The sender may have deleted the notification, or may delete it at the same time.
            sent = Notification.id == values["notification_id"]
            lock_or_raise(session, Notification, sent, NotificationNotFound)
            if insert_new(session, InboxItem, **values) is None:
                raise AlreadyRestored
            return self.inbox.get(receiver_id, values["id"])


def _to_json(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, bool) else serialize_id(value)


def _from_json(column: ColumnElement[Any], value: Any) -> Any:
    if value is not None and isinstance(column.type, UtcDateTime):
        return datetime.fromisoformat(value)
    return value


def _subject(columns: object) -> ProofSubject[Any]:
    return ProofSubject(SUBJECT_KIND, columns, (), columns)
