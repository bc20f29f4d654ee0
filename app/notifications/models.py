import re
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key

TITLE_LENGTH = 200
MESSAGE_LENGTH = 10_000
# A mail's subject is made of a title: no character that any library takes for the end of a line.
LINE_BREAK = re.compile("[\r\n\v\f\x1c-\x1f\x85\u2028\u2029]")

SYSTEM, ADMIN = "system", "admin"
ACCOUNT_SCOPE = "account"

# What delivery knows a notification by.
SUBJECT = "notification"


class Notification(Base):
    """One for each message that was sent. Other packages keep theirs here too, by another scope."""

    __tablename__ = "frontdesk_notifications"
    __table_args__ = (
        Index("ix_frontdesk_notifications_sender_id", "sender_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    message: Mapped[str] = mapped_column(Text)
    channels: Mapped[list[str]] = mapped_column(JSON)
    sender_id: Mapped[Any | None] = account_key(ondelete="SET NULL", nullable=True)
    notification_type: Mapped[str] = mapped_column(String(20))
    scope: Mapped[str] = mapped_column(String(50), default=ACCOUNT_SCOPE)
    # How many it was sent to: their inbox rows may be gone by now.
    receivers: Mapped[int] = mapped_column(Id, default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # As they were when they were last counted; kept of those that went to many.
    counts: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    counted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class InboxItem(Base):
    __tablename__ = "frontdesk_inbox"
    __table_args__ = (
        # Also what deletes an account's or a notification's rows without a search.
        UniqueConstraint("notification_id", "receiver_id"),
        Index("ix_frontdesk_inbox_receiver_id", "receiver_id", "id"),
        # The unread are few among many, and are counted on every page a client shows.
        Index(
            "ix_frontdesk_inbox_unread",
            "receiver_id",
            "id",
            postgresql_where=text("NOT is_read"),
            sqlite_where=text("NOT is_read"),
        ),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    notification_id: Mapped[int] = mapped_column(
        Id, ForeignKey("frontdesk_notifications.id", ondelete="CASCADE")
    )
    receiver_id: Mapped[Any] = account_key()
    is_read: Mapped[bool] = mapped_column(default=False, server_default=false())
