import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey

ACTIVE = "active"
NAME_LENGTH = 200
STATUS_LENGTH = 50
# Statuses of earlier versions can be any text.
STATUS = re.compile("^[a-z][a-z0-9_-]*$")

OWNER, ADMIN, MEMBER, GUEST = "owner", "admin", "member", "guest"
MEMBER_TYPES = (OWNER, ADMIN, MEMBER, GUEST)
# The types that each type may add, change from and to, and remove. Every member may leave.
MANAGED_TYPES: dict[str, frozenset[str]] = {
    OWNER: frozenset(MEMBER_TYPES),
    ADMIN: frozenset({ADMIN, MEMBER, GUEST}),
}
MANAGERS = tuple(MANAGED_TYPES)


_IS_OWNER = text(f"type = '{OWNER}'")


class Workspace(Base):
    """A workspace: a team or tenant."""

    __tablename__ = "frontdesk_workspaces"
    __table_args__ = (
        # For the search of admins. On PostgreSQL, the unique index uses a locale, which cannot
        # serve prefix searches.
        Index("ix_frontdesk_workspaces_slug", "slug", postgresql_ops={"slug": 'COLLATE "C"'}),
        Index("ix_frontdesk_workspaces_name", "name", postgresql_ops={"name": 'COLLATE "C"'}),
        # Without it, SQLite would use the id of a deleted workspace again, and an account with that
        # current workspace would get access to the new one.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    slug: Mapped[str] = mapped_column(String(63), unique=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    is_default: Mapped[bool] = mapped_column(default=False)
    # Created for one account at its registration: the default of that account only.
    is_personal: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The name of the stored logo.
    logo_file: Mapped[str | None] = mapped_column(String(64), index=True, unique=True)
    # Counted for the quotas of an account. Not a foreign key, since ids are not used again. NULL
    # for personal workspaces, those of an operator, and those from before this column.
    creator_id: Mapped[AccountKey | None] = account_key(ondelete=None, nullable=True, index=True)


class Member(Base):
    """The membership of an account in a workspace. The API contract calls it the user."""

    __tablename__ = "frontdesk_workspace_members"
    __table_args__ = (
        UniqueConstraint("workspace_id", "account_id"),
        Index("ix_frontdesk_workspace_members_account_id", "account_id"),
        Index(
            "ix_frontdesk_workspace_members_owners",
            "workspace_id",
            "id",
            "account_id",
            sqlite_where=_IS_OWNER,
            postgresql_where=_IS_OWNER,
        ),
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
        """Whether the membership has the status `active`."""
        return self.status == ACTIVE

    def may_manage(self, *types: str) -> bool:
        """Return whether the member may manage others at all, and these types of members."""
        return _may_manage(self.type, types)


class TokenMember(NamedTuple):
    """The member as which a workspace's token acts: a value without a row and an account."""

    workspace_id: int
    type: str
    token_id: int
    status: str = ACTIVE
    id: None = None
    account_id: None = None
    # Of an account, which the member has not.
    role: str = ""

    @property
    def is_active(self) -> bool:
        return True

    def may_manage(self, *types: str) -> bool:
        return _may_manage(self.type, types)


def _may_manage(member_type: str, types: Sequence[str]) -> bool:
    return member_type in MANAGERS and MANAGED_TYPES[member_type].issuperset(types)
