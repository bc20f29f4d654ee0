"""The keys of sends: a notification that is sent again with its key is not sent twice.

The key is inserted first in the transaction. So of two sends at once, the second waits for the end
of the first, and a rollback frees the key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

import orjson
from sqlalchemy import ColumnElement, select

from ..core.clock import Clock
from ..core.db.account_ids import serialize_id
from ..core.db.pruning import delete_in_batches, delete_rows
from ..core.db.transaction import AnySession, insert_new
from ..core.types import AccountKey, JsonObject
from .errors import KeyReused, NotificationDeleted
from .models import SYSTEM, Notification, NotificationKey
from .receivers import Audience, account_ids

KEPT = timedelta(days=7)
BATCH_ROWS = 5_000


@dataclass(eq=False)
class NotificationKeys:
    session: AnySession
    clock: Clock

    def find_or_add(
        self, sender_id: AccountKey | None, key: str, fingerprint: str
    ) -> Notification | NotificationKey:
        """Return the notification that was sent with the key, or the new row of the key, for the
        id of the notification. Raises KeyReused or NotificationDeleted."""
        own = (NotificationKey.scope == key_scope(sender_id), NotificationKey.key == key)
        delete_rows(self.session, NotificationKey, *own, self._is_old())
        added = insert_new(
            self.session,
            NotificationKey,
            scope=key_scope(sender_id),
            key=key,
            fingerprint=fingerprint,
            created_at=self.clock.now(),
        )
        if added is not None:
            return added
        columns = select(NotificationKey.fingerprint, NotificationKey.notification_id)
        stored = self.session.execute(columns.where(*own)).one()
        if stored.fingerprint != fingerprint:
            raise KeyReused
        notification = self.session.get(Notification, stored.notification_id)
        if notification is None:
            raise NotificationDeleted
        return notification

    def prune(self, batch: int = BATCH_ROWS) -> int:
        """Delete old keys and return how many."""
        ordered = NotificationKey.id
        return delete_in_batches(
            self.session, NotificationKey, self._is_old(), batch=batch, order_by=ordered
        )

    def _is_old(self) -> ColumnElement[bool]:
        return NotificationKey.created_at < self.clock.now() - KEPT


def key_scope(sender_id: AccountKey | None) -> str:
    return SYSTEM if sender_id is None else str(serialize_id(sender_id))


def make_fingerprint(content: JsonObject, to: Audience | Iterable[object] | None) -> str:
    """Return a digest of a notification and of its recipients as a set."""
    if not isinstance(to, Audience):
        to = Audience(ids=None if to is None else account_ids(to))
    receivers = to.to_json()
    if to.ids is not None:
        receivers["ids"] = sorted({str(each) for each in receivers["ids"]})
    text = orjson.dumps([content, receivers], option=orjson.OPT_SORT_KEYS)
    return sha256(text).hexdigest()
