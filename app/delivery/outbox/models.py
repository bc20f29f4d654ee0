"""Outgoing messages: a message once, and one delivery for each receiver and channel."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    ForeignKey,
    Index,
    SmallInteger,
    SQLColumnExpression,
    String,
    Text,
    and_,
    case,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, receiver_key
from ...core.types import AccountKey, JsonObject, Values
from ..message import EMAIL, Subject

# A delivery stays pending while a worker sends it and between attempts.
PENDING, SENT, FAILED, SKIPPED = "pending", "sent", "failed", "skipped"
STATES = (PENDING, SENT, FAILED, SKIPPED)
# The reason of deliveries after a stop of sending. A pending delivery with this reason is claimed
# by a worker, which finishes the attempt and does not retry it.
STOPPED = "Stopped by the sender"

# The condition of a partial index: without it, the database does not use the index.
IS_ENDED = text("state IN ('sent', 'failed')")

# Messages with few receivers are sent before broadcasts, also before older ones.
FEW, MANY = 0, 1
LANES = (FEW, MANY)

REASON_LENGTH = 200
# A status of SMTP or HTTP, with the enhanced status of SMTP.
_STATUS_CODE = re.compile(r"\b[45]\d\d\b( [245]\.\d{1,3}\.\d{1,3}\b)?")
URL_LENGTH = 2_000
KIND_LENGTH = 50
SUBJECT_KIND_LENGTH = 30


class OutgoingMessage(Base):
    """A message. It stores its text, because not every message belongs to a notification."""

    __tablename__ = "frontdesk_outgoing_messages"
    __table_args__ = (
        Index("ix_frontdesk_outgoing_messages_subject", "subject_kind", "subject_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # The subject of the message; no foreign key, since it can be a row of any table.
    subject_kind: Mapped[str | None] = mapped_column(String(SUBJECT_KIND_LENGTH))
    subject_id: Mapped[int | None] = mapped_column(Id)
    title: Mapped[str] = mapped_column(String(200))
    message: Mapped[str] = mapped_column(Text)
    template_file: Mapped[str | None] = mapped_column(String(255))
    # Additional values for the template, as a JSON object.
    context: Mapped[str | None] = mapped_column(Text)
    # Whether the texts have personal fields; NULL: no.
    is_personal: Mapped[bool | None]
    url: Mapped[str | None] = mapped_column(String(URL_LENGTH))
    kind: Mapped[str | None] = mapped_column(String(KIND_LENGTH))
    data: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    # When emails are due to accounts that have not read the subject; NULL: at once, and to all.
    email_if_unread_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Delivery(Base):
    __tablename__ = "frontdesk_deliveries"
    __table_args__ = (
        # The queue: due deliveries of a channel, single messages before broadcasts.
        Index(
            "ix_frontdesk_deliveries_queue",
            "channel",
            "lane",
            "due_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index("ix_frontdesk_deliveries_outgoing_id", "outgoing_id", "channel", "state"),
        # The results of a time. Skipped deliveries are left out: a broadcast stores many at once.
        Index(
            "ix_frontdesk_deliveries_finished_at",
            "state",
            "finished_at",
            "id",
            postgresql_where=IS_ENDED,
            sqlite_where=IS_ENDED,
        ),
        # The deliveries to one account, the newest first.
        Index("ix_frontdesk_deliveries_receiver_id", "receiver_id", "id"),
        # A worker may still hold the id of a deleted row, so ids are not used again.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    outgoing_id: Mapped[int] = mapped_column(
        Id, ForeignKey("frontdesk_outgoing_messages.id", ondelete="CASCADE")
    )
    # No foreign key: the result of an email stays when its receiver is deleted.
    receiver_id: Mapped[AccountKey] = receiver_key()
    channel: Mapped[str] = mapped_column(String(50))
    lane: Mapped[int] = mapped_column(SmallInteger)
    state: Mapped[str] = mapped_column(String(10))
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0)
    # When a worker may claim it: at once, after a pause, or when another worker's lease ends.
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The token of the worker that claimed it last.
    claim: Mapped[str | None] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(REASON_LENGTH))
    # The gateway's own id of the message.
    reference: Mapped[str | None] = mapped_column(String(100))
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


def is_about(subject: Subject) -> ColumnElement[bool]:
    return and_(
        OutgoingMessage.subject_kind == subject.kind, OutgoingMessage.subject_id == subject.id
    )


def reason_code(reason: str) -> str:
    """Return the status code in a server's response, or the whole reason without one."""
    found = _STATUS_CODE.search(reason)
    return found[0] if found else reason


def has_code(column: SQLColumnExpression[Any], code: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for the reasons that `reason_code` shortens to this code."""
    # A status without an enhanced status is another reason than one with it.
    return column.contains(code, autoescape=True), column.not_like(f"%{code} _._%")


def released(reason: str | None) -> Values:
    """Return the values of a delivery that a worker releases without a result: it is pending, or
    skipped if its sending was stopped."""
    is_stopped, why = Delivery.reason == STOPPED, Delivery.reason if reason is None else reason
    return {
        "state": case((is_stopped, SKIPPED), else_=PENDING),
        "reason": case((is_stopped, STOPPED), else_=why),
    }


def is_delayed(channel: Any) -> ColumnElement[bool]:
    """Return the condition that a message waits until it is sent by this channel."""
    return and_(channel == EMAIL, OutgoingMessage.email_if_unread_at.is_not(None))


def first_due_at(channel: object) -> ColumnElement[Any]:
    """Return when a message was due for the first time on a channel."""
    delayed = OutgoingMessage.email_if_unread_at
    return case((is_delayed(channel), delayed), else_=OutgoingMessage.created_at)
