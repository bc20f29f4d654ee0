from datetime import datetime

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.types import AccountKey

LONGEST_ISSUER = 255
# As OpenID Connect Core says, section 2.
LONGEST_SUBJECT = 255


class Identity(Base):
    """A person at an identity provider, and the account that a sign-in there opens."""

    __tablename__ = "frontdesk_identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key(index=True)
    # The provider's name in the settings; issuer and subject identify the person.
    provider: Mapped[str] = mapped_column(String(50))
    issuer: Mapped[str] = mapped_column(String(LONGEST_ISSUER))
    subject: Mapped[str] = mapped_column(String(LONGEST_SUBJECT))
    # As the provider had verified it when they were linked; it may be another one there by now.
    email: Mapped[str] = mapped_column(String(320))
    linked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime] = mapped_column(UtcDateTime)
