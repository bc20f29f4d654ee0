from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Index, LargeBinary, String, Uuid, and_, text
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.db.tables import WHEN_MOUNTED
from ...core.types import AccountKey
from .devices import USER_AGENT_LENGTH
from .settings import SessionLimits

TOKEN, COOKIE = "token", "cookie"
SECRET_BYTES = 32
ADDRESS_LENGTH = 45
AMR_LENGTH = 60

_LIVE = text("ended_at IS NULL")


class AccountSession(Base):
    """A session: the sign-in of one browser or program until it ends."""

    __tablename__ = "frontdesk_sessions"
    __table_args__ = (
        Index(
            "ix_frontdesk_sessions_account_id",
            "account_id",
            "id",
            sqlite_where=_LIVE,
            postgresql_where=_LIVE,
        ),
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # The id in tokens, cookies and responses.
    public_id: Mapped[UUID] = mapped_column(Uuid, unique=True, default=uuid4)
    account_id: Mapped[AccountKey] = account_key()
    kind: Mapped[str] = mapped_column(String(10))
    # For a cookie session, the digest of the cookie's secret. For a token session, the key of its
    # refresh tokens, used together with the secret key.
    secret: Mapped[bytes] = mapped_column(LargeBinary(SECRET_BYTES))
    # The number of refreshes, and the time of the last one.
    counter: Mapped[int] = mapped_column(default=0)
    refreshed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The methods of the sign-in (RFC 8176).
    amr: Mapped[str] = mapped_column(String(AMR_LENGTH))
    authenticated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The last use of a second factor; a trusted device does not count.
    factor_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Accurate to an hour, so that most requests write nothing.
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The latest end of the session; rows long past it are deleted.
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    end_reason: Mapped[str | None] = mapped_column(String(20))
    ip: Mapped[str | None] = mapped_column(String(ADDRESS_LENGTH))
    user_agent: Mapped[str | None] = mapped_column(String(USER_AGENT_LENGTH))

    def ends_by(self, limits: SessionLimits) -> datetime:
        """Return when the session ends if it is not used before."""
        return min(self.expires_at, self.created_at + limits.longest, self.used_at + limits.idle)


def is_active_session(limits: SessionLimits, now: datetime) -> ColumnElement[bool]:
    """Return the condition of a session that neither has ended nor expired. Revoking an account's
    tokens ends its earlier sessions too."""
    return and_(
        AccountSession.ended_at.is_(None),
        AccountSession.expires_at > now,
        AccountSession.created_at > now - limits.longest,
        AccountSession.used_at > now - limits.idle,
    )
