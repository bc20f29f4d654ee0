from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.types import AccountKey

PENDING, ACCEPTED, DECLINED, REVOKED, EXPIRED = (
    "pending",
    "accepted",
    "declined",
    "revoked",
    "expired",
)
STATES = (PENDING, ACCEPTED, DECLINED, REVOKED, EXPIRED)
MESSAGE_LENGTH = 500

_IS_PENDING = text("state = 'pending'")


class Invitation(Base):
    """An invitation to a workspace for an email address."""

    __tablename__ = "frontdesk_invitations"
    __table_args__ = (
        # An address has one pending invitation in a workspace.
        Index(
            "uq_frontdesk_invitations_pending",
            "workspace_id",
            "email",
            unique=True,
            sqlite_where=_IS_PENDING,
            postgresql_where=_IS_PENDING,
        ),
        Index("ix_frontdesk_invitations_workspace_id", "workspace_id", "id"),
        Index("ix_frontdesk_invitations_email", "email"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    workspace_id: Mapped[int] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE")
    )
    inviter_id: Mapped[AccountKey | None] = account_key(
        ondelete="SET NULL", nullable=True, index=True
    )
    email: Mapped[str] = mapped_column(String(320))
    type: Mapped[str] = mapped_column(String(20))
    message: Mapped[str | None] = mapped_column(String(MESSAGE_LENGTH))
    state: Mapped[str] = mapped_column(String(20), default=PENDING)
    # The number of emails, and the time of the last one.
    sends: Mapped[int] = mapped_column(default=0)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    def state_at(self, moment: datetime) -> str:
        """Return the state. A pending invitation is expired before this is stored."""
        is_expired = self.state == PENDING and self.expires_at <= moment
        return EXPIRED if is_expired else self.state

    def is_open(self, moment: datetime) -> bool:
        return self.state_at(moment) == PENDING
