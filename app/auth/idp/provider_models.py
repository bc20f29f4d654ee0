"""What identity providers have given: roles, memberships and sessions. Only applications with
identity providers have these tables."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime
from ...core.db.tables import WHEN_MOUNTED
from ..sessions.models import AccountSession

LONGEST_ROLE = 50
LONGEST_SID = 255
_WHEN_MOUNTED = {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}}


def _identity() -> Mapped[int]:
    return mapped_column(ForeignKey("frontdesk_identities.id", ondelete="CASCADE"))


class ProviderGrant(Base):
    """A role or membership that an account has because of a group at a provider."""

    __tablename__ = "frontdesk_provider_grants"
    __table_args__ = (
        Index("ix_frontdesk_provider_grants_identity_id", "identity_id"),
        _WHEN_MOUNTED,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    identity_id: Mapped[int] = _identity()
    # NULL: the role of the account.
    workspace_id: Mapped[int | None] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE"), index=True
    )
    # The role, or the type of the member.
    granted: Mapped[str] = mapped_column(String(LONGEST_ROLE))
    # What the account had before; NULL: no membership.
    former: Mapped[str | None] = mapped_column(String(LONGEST_ROLE))
    granted_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ProviderSession(Base):
    """The session at a provider through which a session was opened."""

    __tablename__ = "frontdesk_provider_sessions"
    __table_args__ = (
        Index("ix_frontdesk_provider_sessions_identity_id", "identity_id"),
        {"info": {WHEN_MOUNTED: True}},
    )

    session_id: Mapped[int] = mapped_column(
        Id, ForeignKey(AccountSession.id, ondelete="CASCADE"), primary_key=True
    )
    identity_id: Mapped[int] = _identity()
    # The provider's id of its session.
    sid: Mapped[str | None] = mapped_column(String(LONGEST_SID), index=True)
    # The encrypted ID token, with which the provider recognizes the session that ends.
    id_token: Mapped[str | None] = mapped_column(Text)
