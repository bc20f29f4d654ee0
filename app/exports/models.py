from datetime import datetime
from typing import Any

from sqlalchemy import Index, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey

PENDING, READY, FAILED = "pending", "ready", "failed"
STATES = (PENDING, READY, FAILED)

# The condition of the queue's index.
IS_PENDING: Any = text("state = 'pending'")


class AccountExport(Base):
    """A copy that an account has asked for; the file itself is in a store."""

    __tablename__ = "frontdesk_exports"
    __table_args__ = (
        Index("ix_frontdesk_exports_account_id", "account_id", "id"),
        Index(
            "ix_frontdesk_exports_queue",
            "due_at",
            postgresql_where=IS_PENDING,
            sqlite_where=IS_PENDING,
        ),
        # An id that is used again would be another account's to a worker that still holds it.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    state: Mapped[str] = mapped_column(String(10), default=PENDING)
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0)
    # When it may be taken: now, after a pause, or when the lease of the worker that has it ends.
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Names the worker that took it last.
    claim: Mapped[str | None] = mapped_column(String(32))
    file: Mapped[str | None] = mapped_column(String(64))
    size: Mapped[int | None] = mapped_column(Id)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Unset until it is ready.
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
