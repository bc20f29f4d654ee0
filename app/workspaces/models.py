from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey

ACTIVE = "active"
NAME_LENGTH = 200
STATUS_LENGTH = 50


class Workspace(Base):
    __tablename__ = "frontdesk_workspaces"
    # SQLite would otherwise give a deleted workspace's id to the next one, and the accounts whose
    # current workspace it was would find themselves in a stranger's.
    __table_args__ = {"sqlite_autoincrement": True}

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    slug: Mapped[str] = mapped_column(String(63), unique=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    is_default: Mapped[bool] = mapped_column(default=False)
    # Created for one account at its registration: the default of that account only.
    is_personal: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Not a foreign key: it only counts what one account has made, and no id is given twice. Unset
    # for personal ones, an operator's, and those from before it was kept.
    creator_id: Mapped[AccountKey | None] = account_key(ondelete=None, nullable=True, index=True)


class Member(Base):
    """An account in a workspace; the contract calls it the user."""

    __tablename__ = "frontdesk_workspace_members"
    __table_args__ = (
        UniqueConstraint("workspace_id", "account_id"),
        Index("ix_frontdesk_workspace_members_account_id", "account_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    workspace_id: Mapped[int] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE")
    )
    account_id: Mapped[AccountKey] = account_key()
    type: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(STATUS_LENGTH), default=ACTIVE)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE
