"""An account's inbox and sent notifications in its data export."""

from collections.abc import Iterator

from sqlalchemy import select

from ..core.data_export import DataSubject, ExportQuery, ExportReader
from ..core.types import AccountKey
from ..delivery.personal import fill_rows
from .models import InboxItem, Notification, SeenMark
from .personal import PersonalFields


def export_notifications(
    fields: PersonalFields, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    if reader.has(InboxItem, Notification):
        yield "inbox.jsonl", fill_rows(reader.rows(_inbox(subject.id)), fields, subject.id)
    if reader.has(Notification):
        yield "sent.jsonl", reader.rows(_sent(subject.id))
    if reader.has(SeenMark):
        seen = select(SeenMark.account_id, SeenMark.item_id)
        own = seen.where(SeenMark.account_id == subject.id)
        yield "seen.jsonl", reader.rows(own, "account_id")


def _inbox(account_id: AccountKey) -> ExportQuery:
    items = select(
        InboxItem.id,
        InboxItem.is_read,
        Notification.title,
        Notification.message,
        Notification.notification_type,
        Notification.url,
        Notification.kind,
        Notification.data,
        Notification.workspace_id,
        Notification.created_at,
        Notification.is_personal,
    ).join(Notification, Notification.id == InboxItem.notification_id)
    return items.where(InboxItem.receiver_id == account_id)


def _sent(account_id: AccountKey) -> ExportQuery:
    return select(
        Notification.id,
        Notification.title,
        Notification.message,
        Notification.channels,
        Notification.receivers,
        Notification.url,
        Notification.kind,
        Notification.data,
        Notification.workspace_id,
        Notification.created_at,
    ).where(Notification.sender_id == account_id)
