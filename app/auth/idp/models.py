from datetime import datetime

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.types import AccountKey

LONGEST_ISSUER = 255
# The limit of OpenID Connect Core, section 2.
LONGEST_SUBJECT = 255


class Identity(Base):
    """The link between a user of an identity provider and an account."""

    __tablename__ = "frontdesk_identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key(index=True)
    # The provider's name in the settings; issuer and subject identify the user.
    provider: Mapped[str] = mapped_column(String(50))
    issuer: Mapped[str] = mapped_column(String(LONGEST_ISSUER))
    subject: Mapped[str] = mapped_column(String(LONGEST_SUBJECT))
    # The address at the time of linking, for display only; the user may have changed it at the
    # provider. Empty, or not verified: the signed-in owner has linked the identity.
    email: Mapped[str] = mapped_column(String(320))
    linked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def label(self) -> str:
        """The name for people: the email address, or the id at the provider without one."""
        return self.email or self.subject
