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
    """A data export that an account has requested; the file is in the file store."""

    __tablename__ = "frontdesk_exports"
    __table_args__ = (
        Index("ix_frontdesk_exports_account_id", "account_id", "id"),
        Index(
            "ix_frontdesk_exports_queue",
            "due_at",
            postgresql_where=IS_PENDING,
            sqlite_where=IS_PENDING,
        ),
        # A worker may still hold the id of a deleted row, which must not be used again.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    state: Mapped[str] = mapped_column(String(10), default=PENDING)
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0)
    # When a worker may claim it: now, after a delay, or when the lease of another worker ends.
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The worker that claimed it last.
    claim: Mapped[str | None] = mapped_column(String(32))
    file: Mapped[str | None] = mapped_column(String(64))
    size: Mapped[int | None] = mapped_column(Id)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Unset until the export is ready.
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
