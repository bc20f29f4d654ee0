"""Broadcasts that are stored once for all accounts (`NOTIFICATIONS__BROADCASTS=shared`).

An account is a recipient if it existed when the broadcast was sent, which its id shows: ids are
assigned in ascending order. A registration that is not committed yet can have a lower id than a
committed one. So the newest accounts get inbox rows as other recipients do, and only the ids below
them are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import Identity, Sequence, Table, delete, func, insert, literal, select
from sqlalchemy.engine import Dialect

from ..core.db.account_ids import IntegerIds, id_kind_of
from ..core.db.transaction import AnySession, execute_bulk
from ..core.types import AccountModel
from .models import InboxItem, Notification, SharedBroadcast
from .receivers import Audience, Receivers

# Accounts with one of so many newest ids get inbox rows.
NEWEST_IDS = 200


def are_ids_ascending(model: AccountModel | None, dialect: Dialect) -> bool:
    """Return whether the database assigns the ids of accounts in ascending order."""
    if model is None:
        return False
    table = cast(Table, model.__table__)
    [key] = table.primary_key.columns
    if not isinstance(id_kind_of(key.type), IntegerIds) or table.autoincrement_column is not key:
        return False
    if dialect.name == "sqlite" and not table.dialect_options["sqlite"]["autoincrement"]:
        return False  # The next account can get the id of a deleted account.
    defaults = (key.default, key.server_default)
    return all(each is None or _is_ascending(each) for each in defaults)


def _is_ascending(default: object) -> bool:
    """Return whether a sequence assigns ids one by one. With a cache, each connection to PostgreSQL
    assigns a range of ids."""
    if not isinstance(default, Identity | Sequence):
        return False
    return default.increment in (None, 1) and default.cache in (None, 1) and not default.cycle


@dataclass(frozen=True)
class SharedBroadcasts:
    session: AnySession

    def measure(self, receivers: Receivers) -> Share | None:
        """Return how a notification is shared; None if its recipients get inbox rows."""
        if receivers.audience != Audience():
            return None
        account_id = receivers.account_model.id
        newest = self.session.scalar(select(func.max(account_id)))
        if newest is None or newest <= NEWEST_IDS:
            return None
        through = newest - NEWEST_IDS
        accounts = select(func.count()).select_from(receivers.account_model)
        newer = accounts.where(account_id > through)
        # Counting all accounts reads the smallest index.
        counts = select(accounts.scalar_subquery(), newer.scalar_subquery())
        count, newer_count = self.session.execute(counts).one()
        return Share(self.session, replace(receivers, shared_through=through), count, newer_count)


@dataclass(frozen=True)
class Share:
    session: AnySession
    recipients: Receivers
    receivers: int
    # The number of accounts above `shared_through`.
    newer: int

    def store(self, notification: Notification) -> Receivers:
        """Store the notification for its recipients, and return them."""
        self.session.add(
            SharedBroadcast(
                item_id=self._reserve_id(notification.id),
                notification_id=notification.id,
                through_id=self.recipients.shared_through,
            )
        )
        self.session.flush()
        stored = self.recipients.fill_inbox(notification.id)
        notification.receivers = self.receivers - self.newer + stored
        return self.recipients

    def _reserve_id(self, notification_id: int) -> int:
        """Insert a row into the inbox and delete it. No other row gets its id."""
        newest: Any = func.max(self.recipients.account_model.id)
        row = select(literal(notification_id), newest, literal(False))
        inserted = insert(InboxItem).from_select(["notification_id", "receiver_id", "is_read"], row)
        item_id = self.session.scalar(inserted.returning(InboxItem.id))
        own = InboxItem.notification_id == notification_id
        execute_bulk(self.session, delete(InboxItem).where(own))
        assert item_id is not None
        return int(item_id)
