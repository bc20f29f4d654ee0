from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.types import AccountKey


class EmailChange(Base):
    """A change of email address: requested, or confirmed and possible to undo."""

    __tablename__ = "frontdesk_email_changes"
    __table_args__ = {"sqlite_autoincrement": True}

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key(index=True)
    old_email: Mapped[str] = mapped_column(String(320))
    new_email: Mapped[str] = mapped_column(String(320), index=True)
    # The old address was not verified: its reader may be another person, who may not undo.
    is_undoable: Mapped[bool]
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime)
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
