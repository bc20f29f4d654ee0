"""Undo for a deleted inbox item.

Nothing is stored: before the deletion the receiver gets a signed statement with all columns of the
row, and sends it back within ten minutes to have the same row inserted again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select

from ..auth.errors import InvalidProof
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..core.db.account_ids import serialize_id
from ..core.db.base import UtcDateTime
from ..core.db.transaction import AnySession, insert_new, lock_row, transaction
from ..core.types import AccountKey
from .errors import AlreadyRestored, NotificationNotFound, NotRestorable
from .inbox import Inbox, Item
from .models import InboxItem, Notification

KIND = "inbox-item"
RESTORING = Purpose("inbox-restore", timedelta(minutes=10))


@dataclass(eq=False)
class Restoring:
    session: AnySession
    inbox: Inbox
    proofs: Proofs

    def statement(self, receiver_id: AccountKey, item_id: int) -> str | None:
        """Return the signed row of an item that is about to be deleted; None if there is none."""
        row = self.session.execute(
            select(InboxItem.__table__).where(
                InboxItem.id == item_id, InboxItem.receiver_id == receiver_id
            )
        ).one_or_none()
        if row is None:
            return None
        stated = {name: _to_json(value) for name, value in row._mapping.items()}
        return self.proofs.token(RESTORING, _subject(stated))

    def restore(self, receiver_id: AccountKey, statement: str) -> Item:
        """Insert the row of a statement again and return the item."""
        try:
            stated = self.proofs.by_token(RESTORING, KIND, statement, _subject)
        except InvalidProof:
            raise NotRestorable from None
        columns = InboxItem.__table__.columns
        # Signed before an upgrade that changed the columns: the row cannot be restored whole.
        if not isinstance(stated, Mapping) or stated.keys() != set(columns.keys()):
            raise NotRestorable
        if stated["receiver_id"] != serialize_id(receiver_id):
            raise NotificationNotFound
        values = {name: _from_json(columns[name], value) for name, value in stated.items()}
        values["receiver_id"] = receiver_id
        with transaction(self.session):
            # Its sender may have deleted the notification, or be deleting it now.
            sent = Notification.id == values["notification_id"]
            if not lock_row(self.session, Notification, sent):
                raise NotificationNotFound
            if insert_new(self.session, InboxItem, **values) is None:
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


def _subject(stated: object) -> ProofSubject[Any]:
    return ProofSubject(KIND, stated, (), stated)
