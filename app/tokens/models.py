from datetime import datetime
from typing import ClassVar

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.db.tables import WHEN_MOUNTED
from ..core.types import AccountKey
from ..workspaces.models import Member, Workspace
from .format import SHOWN_LENGTH

NAME_LENGTH = 80
DIGEST_LENGTH = 64
NETWORKS_LENGTH = 1_000
MEMBER_TYPE_LENGTH = 20

_MEMBERS = Member.__tablename__
_HAS_REMINDER = text("remind_at IS NOT NULL")


class TokenColumns:
    """The columns of every kind of token."""

    # The kind of the audit log's target.
    kind: ClassVar[str]

    id: Mapped[int] = mapped_column(Id, primary_key=True, sort_order=-1)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    # The first characters of the token.
    prefix: Mapped[str] = mapped_column(String(SHOWN_LENGTH))
    # The SHA-256 of the token, which is stored nowhere.
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    # Names of scopes, separated by spaces.
    scopes: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    # Accurate to an hour, so that most requests write nothing.
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The networks that used the token, separated by spaces, and when another one was last added.
    networks: Mapped[str] = mapped_column(String(NETWORKS_LENGTH), default="")
    network_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class PersonalToken(TokenColumns, Base):
    """A token with which a program sends requests as an account."""

    kind = "personal_token"
    __tablename__ = "frontdesk_personal_tokens"
    __table_args__ = (
        # A token for a workspace ends with the membership, whatever deletes it.
        ForeignKeyConstraint(
            ("workspace_id", "account_id"),
            (f"{_MEMBERS}.workspace_id", f"{_MEMBERS}.account_id"),
            ondelete="CASCADE",
        ),
        Index("ix_frontdesk_personal_tokens_account_id", "account_id", "id"),
        Index(
            "ix_frontdesk_personal_tokens_remind_at",
            "remind_at",
            postgresql_where=_HAS_REMINDER,
            sqlite_where=_HAS_REMINDER,
        ),
        # The audit log has the ids of tokens, which are not used again.
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    account_id: Mapped[AccountKey] = account_key()
    # The only workspace in which the token is accepted; NULL: all of the account.
    workspace_id: Mapped[int | None] = mapped_column(Id)
    # When the owner gets the email about the expiry; NULL: never, or sent.
    remind_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class WorkspaceToken(TokenColumns, Base):
    """A token with which a program sends requests as a member of a workspace. No account owns it:
    it survives the account that created it."""

    kind = "workspace_token"
    __tablename__ = "frontdesk_workspace_tokens"
    __table_args__ = (
        Index("ix_frontdesk_workspace_tokens_workspace_id", "workspace_id", "id"),
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    workspace_id: Mapped[int] = mapped_column(
        ForeignKey(f"{Workspace.__tablename__}.id", ondelete="CASCADE")
    )
    # The type of the member.
    type: Mapped[str] = mapped_column(String(MEMBER_TYPE_LENGTH))


TokenModel = type[PersonalToken] | type[WorkspaceToken]
