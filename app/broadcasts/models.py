from datetime import datetime

from sqlalchemy import JSON, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey, JsonObject
from ..notifications.models import TITLE_LENGTH

SEGMENT_NAME_LENGTH = 80


class Segment(Base):
    """An audience under a name, which all admins share."""

    __tablename__ = "frontdesk_segments"
    # The id of a deleted segment, which drafts may still have, is not used again.
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(SEGMENT_NAME_LENGTH), unique=True)
    audience: Mapped[JsonObject] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class SavedDraft(Base):
    """A broadcast that an admin has not sent yet, as typed."""

    __tablename__ = "frontdesk_broadcast_drafts"
    # The id of a deleted draft, which an open form may still have, is not used again.
    __table_args__ = (
        Index("ix_frontdesk_broadcast_drafts_account_id", "account_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    content: Mapped[JsonObject] = mapped_column(JSON)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
