"""What was sent to one account."""

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
        """The newest first, with the id of what a message is about where that is of this kind."""
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
            .where(*self._theirs(account_id))
            .order_by(Delivery.id.desc())
            .limit(limit)
        )
        if before is not None:
            rows = rows.where(Delivery.id < before)
        return [dict(row) for row in self.session.execute(rows).mappings()]

    def _theirs(self, account_id: AccountKey) -> list[ColumnElement[bool]]:
        receiver: Any = literal(account_id, self.ids.type)
        if not isinstance(self.ids, IntegerIds):
            # As the database itself has written it.
            receiver = cast(receiver, String(MAX_STRING_LENGTH))
        theirs = [Delivery.receiver_id == receiver]
        # Other kinds of receivers have separate ids.
        others = [
            channel.name
            for channel in self.channels.ours
            if not isinstance(channel.address_book, AccountAddressBook)
        ]
        if others:
            theirs.append(Delivery.channel.not_in(others))
        return theirs
