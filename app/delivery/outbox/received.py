"""The deliveries to one account: shown to admins, and in its data export."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, case, cast, literal, select

from ...core.data_export import DataSubject, ExportReader
from ...core.db.account_ids import MAX_STRING_LENGTH, IdKind, IntegerIds
from ...core.db.transaction import AnySession
from ...core.types import AccountKey, JsonObject
from ..channel import AccountAddressBook, Channels
from ..personal import FieldReader, fill_rows
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
        receiver: Any = literal(account_id, self.ids.type)
        if not isinstance(self.ids, IntegerIds):
            # The database has converted the id of the delivery's row to text.
            receiver = cast(receiver, String(MAX_STRING_LENGTH))
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
            .where(Delivery.receiver_id == receiver, _is_to_account(self.channels))
            .order_by(Delivery.id.desc())
            .limit(limit)
        )
        if before is not None:
            rows = rows.where(Delivery.id < before)
        return [dict(row) for row in self.session.execute(rows).mappings()]


def export_deliveries(
    channels: Channels, fields: FieldReader, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    if not reader.has(Delivery, OutgoingMessage):
        return
    deliveries = (
        select(
            Delivery.id,
            Delivery.channel,
            Delivery.state,
            Delivery.attempts,
            Delivery.reason,
            Delivery.reference,
            Delivery.finished_at,
            OutgoingMessage.title,
            OutgoingMessage.message,
            OutgoingMessage.url,
            OutgoingMessage.kind,
            OutgoingMessage.data,
            OutgoingMessage.created_at,
            OutgoingMessage.is_personal,
        )
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(Delivery.receiver_id == subject.receiver_id, _is_to_account(channels))
    )
    rows = reader.rows_in_ranges(deliveries, Delivery.id)
    yield "deliveries.jsonl", fill_rows(rows, fields, subject.id)


def _is_to_account(channels: Channels) -> ColumnElement[bool]:
    """Exclude receivers other than accounts, because their ids can equal those of accounts."""
    return Delivery.channel.not_in(
        [
            channel.name
            for channel in channels.built_in
            if not isinstance(channel.address_book, AccountAddressBook)
        ]
    )
