"""The emails and SMS that an account was sent, in its data export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from ...core.data_export import DataSubject, ExportReader
from ..channel import AccountAddressBook, Channels
from .models import Delivery, OutgoingMessage


def export_deliveries(
    channels: Channels, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, Any]]:
    if reader.has(Delivery, OutgoingMessage):
        deliveries = _deliveries(subject.receiver_id, _account_channels(channels))
        yield "deliveries.jsonl", reader.rows_in_ranges(deliveries, Delivery.id)


def _account_channels(channels: Channels) -> list[str]:
    """Return the channels whose recipients are accounts: on other channels the same id is another
    receiver."""
    found = {name: channels.get(name) for name in channels.names()}
    return [
        name
        for name, channel in found.items()
        if channel is not None and isinstance(channel.address_book, AccountAddressBook)
    ]


def _deliveries(receiver: object, channels: list[str]) -> Any:
    return (
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
            OutgoingMessage.created_at,
        )
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(Delivery.receiver_id == receiver, Delivery.channel.in_(channels))
    )
