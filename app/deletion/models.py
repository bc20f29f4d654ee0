from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey


class AccountDeletion(Base):
    """An account that is deleted after its grace period."""

    __tablename__ = "frontdesk_account_deletions"
    __table_args__ = {"sqlite_autoincrement": True}

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key(unique=True)
    # The status of the account after a restore.
    former_status: Mapped[str] = mapped_column(String(50))
    deletes_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
