"""Taking back the deletion of an inbox item, for some minutes.

Nothing is kept of what is deleted: whoever deletes gets a signed statement of the row, and brings
it back to have the very row again, in its old place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..auth.errors import InvalidProof
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..core.db.account_ids import shown
from ..core.db.races import insert_new, lock_row
from ..core.db.transaction import AnySession, transaction
from .errors import AlreadyRestored, NotificationNotFound, NotRestorable
from .inbox import Inbox, Item
from .models import InboxItem, Notification

KIND = "inbox-item"
RESTORING = Purpose("inbox-restore", timedelta(minutes=10))
# What a row is made of.
_ROW = ("id", "notification_id", "is_read")


@dataclass(eq=False)
class Restoring:
    session: AnySession
    inbox: Inbox
    proofs: Proofs

    def statement(self, deleted: Item) -> str:
        """What an item was, for its receiver to bring back."""
        row = [shown(deleted["receiver_id"]), *(deleted[name] for name in _ROW)]
        return self.proofs.token(RESTORING, _subject(row))

    def restore(self, receiver_id: Any, statement: str) -> Item:
        try:
            said, *row = self.proofs.by_token(RESTORING, KIND, statement, _subject)
        except InvalidProof:
            raise NotRestorable from None
        values = dict(zip(_ROW, row, strict=True))
        if said != shown(receiver_id):
            raise NotificationNotFound
        with transaction(self.session):
            # Its sender may have deleted it meanwhile, or be about to.
            sent = Notification.id == values["notification_id"]
            if not lock_row(self.session, Notification, sent):
                raise NotificationNotFound
            if insert_new(self.session, InboxItem, receiver_id=receiver_id, **values) is None:
                raise AlreadyRestored
            return self.inbox.get(receiver_id, values["id"])


def _subject(row: list[Any]) -> ProofSubject[list[Any]]:
    return ProofSubject(KIND, row, (), row)
