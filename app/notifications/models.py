import re
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.account_ids import MAX_STRING_LENGTH
from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.db.tables import WHEN_MOUNTED
from ..core.types import AccountKey, JsonObject
from ..delivery.outbox.models import KIND_LENGTH, URL_LENGTH
from ..workspaces.models import Workspace

TITLE_LENGTH = 200
MESSAGE_LENGTH = 10_000
KEY_LENGTH = 255
# A title becomes the subject of an email: characters that some library treats as a line break.
LINE_BREAK = re.compile("[\r\n\v\f\x1c-\x1f\x85\u2028\u2029]")

SYSTEM, ADMIN = "system", "admin"
ACCOUNT_SCOPE = "account"

# The condition of the index of broadcasts, which are the notifications that admins send.
IS_BROADCAST: Any = text("notification_type = 'admin' AND scope = 'account'")
# The condition of the index of notifications about workspaces, which few are.
HAS_WORKSPACE: Any = text("workspace_id IS NOT NULL")

# The kind of subject of a notification's messages.
SUBJECT = "notification"

# The worker's task that stores the rows of large broadcasts. The name of a channel has no space.
EXPAND_BROADCASTS = "frontdesk broadcasts"
# The states of an expansion; one of a stopped broadcast is "skipped", like its unsent deliveries.
EXPANDING, GIVEN_UP = "pending", "failed"
# The condition of the queue's index.
IS_EXPANDING: Any = text("state = 'pending'")


class Notification(Base):
    """A sent notification. Other packages store notifications with another scope."""

    __tablename__ = "frontdesk_notifications"
    __table_args__ = (
        Index("ix_frontdesk_notifications_sender_id", "sender_id", "id"),
        Index(
            "ix_frontdesk_notifications_broadcasts",
            "id",
            postgresql_where=IS_BROADCAST,
            sqlite_where=IS_BROADCAST,
        ),
        # Finds the rows to change when a workspace is deleted.
        Index(
            "ix_frontdesk_notifications_workspace_id",
            "workspace_id",
            postgresql_where=HAS_WORKSPACE,
            sqlite_where=HAS_WORKSPACE,
        ),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    message: Mapped[str] = mapped_column(Text)
    channels: Mapped[list[str]] = mapped_column(JSON)
    sender_id: Mapped[AccountKey | None] = account_key(ondelete="SET NULL", nullable=True)
    notification_type: Mapped[str] = mapped_column(String(20))
    scope: Mapped[str] = mapped_column(String(50), default=ACCOUNT_SCOPE)
    # The number of receivers; some of their inbox rows may be deleted.
    receivers: Mapped[int] = mapped_column(Id, default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The last counts, stored for notifications with many receivers.
    counts: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    counted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The audience of a broadcast, unless its recipients were given as accounts.
    audience: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    # Whether the texts have personal fields; NULL: no.
    is_personal: Mapped[bool | None]
    # The URL that the notification opens, as sent.
    url: Mapped[str | None] = mapped_column(String(URL_LENGTH))
    # The key of a kind, which may no longer be declared.
    kind: Mapped[str | None] = mapped_column(String(KIND_LENGTH))
    # Data for clients and templates, which is never shown by itself.
    data: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    # The workspace that the notification is about.
    workspace_id: Mapped[int | None] = mapped_column(
        Id, ForeignKey(Workspace.id, ondelete="SET NULL")
    )


class NotificationKey(Base):
    """The key of a send, which is kept longer than a notification that is deleted."""

    __tablename__ = "frontdesk_notification_keys"
    __table_args__ = (
        UniqueConstraint("scope", "key"),
        Index("ix_frontdesk_notification_keys_notification_id", "notification_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # The id of the sender, or `system` without one.
    scope: Mapped[str] = mapped_column(String(MAX_STRING_LENGTH))
    key: Mapped[str] = mapped_column(String(KEY_LENGTH))
    # A digest of what was sent, and to whom.
    fingerprint: Mapped[str] = mapped_column(String(64))
    # NULL until the transaction of the send ends. No foreign key: a deleted notification keeps its
    # key, and ids are not used again.
    notification_id: Mapped[int | None] = mapped_column(Id)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class InboxItem(Base):
    __tablename__ = "frontdesk_inbox"
    __table_args__ = (
        # Also finds the rows to delete with an account or a notification.
        UniqueConstraint("notification_id", "receiver_id"),
        Index("ix_frontdesk_inbox_receiver_id", "receiver_id", "id"),
        # Unread items are few, and clients count them often.
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
    receiver_id: Mapped[AccountKey] = account_key()
    is_read: Mapped[bool] = mapped_column(default=False, server_default=false())


class SeenMark(Base):
    """The newest item that an account has seen in its inbox. Unread items above it are unseen."""

    __tablename__ = "frontdesk_notification_seen"
    __table_args__ = {"info": {WHEN_MOUNTED: True}}

    account_id: Mapped[AccountKey] = account_key(primary_key=True, autoincrement=False)
    # Not a foreign key: the mark stays where it is when the item is deleted.
    item_id: Mapped[int] = mapped_column(Id)


class Expansion(Base):
    """A large broadcast. A worker stores the rows of its receivers, range by range.

    The worker deletes the row with the last range. Each stopped broadcast has a row as a mark.
    """

    __tablename__ = "frontdesk_expansions"
    __table_args__ = (
        UniqueConstraint("notification_id"),
        Index(
            "ix_frontdesk_expansions_queue",
            "due_at",
            postgresql_where=IS_EXPANDING,
            sqlite_where=IS_EXPANDING,
        ),
        # A worker may still hold the id of a deleted row, so ids are not used again.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    notification_id: Mapped[int] = mapped_column(
        Id, ForeignKey("frontdesk_notifications.id", ondelete="CASCADE")
    )
    audience: Mapped[JsonObject] = mapped_column(JSON)
    # The sending channels, and the message that they send. Not a foreign key: both are deleted with
    # the notification.
    channels: Mapped[list[str]] = mapped_column(JSON)
    outgoing_id: Mapped[int | None] = mapped_column(Id)
    # The highest id of an account when the broadcast was sent, where ids are integers; and the last
    # creation of an account, where ids are not given in order. Later accounts are not in it.
    last_id: Mapped[int | None] = mapped_column(Id)
    last_created_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The end of the last stored range: an id, or an index in the audience's list of ids.
    position: Mapped[str | None] = mapped_column(String(MAX_STRING_LENGTH))
    # The number of receivers with stored rows.
    stored: Mapped[int] = mapped_column(Id, default=0)
    state: Mapped[str] = mapped_column(String(10), default=EXPANDING)
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0)
    # When a worker may claim it: at once, after a pause, or when another worker's lease ends.
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The token of the worker that claimed it last.
    claim: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
