from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.db.tables import WHEN_MOUNTED
from ..core.types import AccountKey
from ..delivery.outbox.models import URL_LENGTH

TEXT_LENGTH = 500
INFO, WARNING, CRITICAL = "info", "warning", "critical"
# The most important first.
LEVELS = (CRITICAL, WARNING, INFO)
# The audience with visitors, in place of the conditions that accounts meet.
EVERYONE = "everyone"


class Banner(Base):
    __tablename__ = "frontdesk_banners"
    __table_args__ = (
        Index("ix_frontdesk_banners_ends_at", "ends_at"),
        # A browser keeps the ids of banners that a visitor dismissed, so ids are not used again.
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    text: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    url: Mapped[str | None] = mapped_column(String(URL_LENGTH))
    level: Mapped[str] = mapped_column(String(10))
    # `everyone`, or the conditions of an `Audience`.
    audience: Mapped[Any] = mapped_column(JSON)
    starts_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # NULL: until an admin deletes it.
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    dismissible: Mapped[bool]


class BannerDismissal(Base):
    """An account does not see this banner any more."""

    __tablename__ = "frontdesk_banner_dismissals"
    __table_args__ = (
        UniqueConstraint("account_id", "banner_id"),
        # Finds the rows to delete with a banner.
        Index("ix_frontdesk_banner_dismissals_banner_id", "banner_id"),
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    banner_id: Mapped[int] = mapped_column(
        Id, ForeignKey("frontdesk_banners.id", ondelete="CASCADE")
    )
    dismissed_at: Mapped[datetime] = mapped_column(UtcDateTime)
