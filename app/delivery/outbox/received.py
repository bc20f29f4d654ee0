"""The messages that were sent to one account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, case, cast, literal, select

from ...core.db.account_ids import MAX_STRING_LENGTH, IdKind, IntegerIds
from ...core.db.transaction import AnySession
from ...core.types import AccountKey, JsonObject
from ..channel import AccountAddressBook, Channels
from .models import Delivery, OutgoingMessage


@dataclass(eq=False)
class ReceivedDeliveries:
    session: AnySession
    channels: Channels
    ids: IdKind

    def page(
        self, account_id: AccountKey, subject_kind: str, *, before: int | None, limit: int
    ) -> list[JsonObject]:
        """Return deliveries, the newest first, with the subject's id if it has this kind."""
        about = case((OutgoingMessage.subject_kind == subject_kind, OutgoingMessage.subject_id))
        rows = (
            select(
                Delivery.id,
                Delivery.channel,
                Delivery.state,
                OutgoingMessage.title,
                about.label(f"{subject_kind}_id"),
                Delivery.attempts,
                Delivery.reason,
                OutgoingMessage.created_at,
                Delivery.finished_at,
            )
            .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
            .where(*self._is_received_by(account_id))
            .order_by(Delivery.id.desc())
            .limit(limit)
        )
        if before is not None:
            rows = rows.where(Delivery.id < before)
        return [dict(row) for row in self.session.execute(rows).mappings()]

    def _is_received_by(self, account_id: AccountKey) -> list[ColumnElement[bool]]:
        receiver: Any = literal(account_id, self.ids.type)
        if not isinstance(self.ids, IntegerIds):
            # The database has converted the id of the delivery's row to text.
            receiver = cast(receiver, String(MAX_STRING_LENGTH))
        conditions = [Delivery.receiver_id == receiver]
        # On channels with other kinds of receivers, the id belongs to another receiver.
        other_channels = [
            channel.name
            for channel in self.channels.built_in
            if not isinstance(channel.address_book, AccountAddressBook)
        ]
        if other_channels:
            conditions.append(Delivery.channel.not_in(other_channels))
        return conditions
