"""The models of the pinboard: accounts with a name, and notes in a workspace."""

from __future__ import annotations

from datetime import UTC, datetime

import flask_frontdesk
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import DateTime, ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


# [base]
class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)
# [end]


# [account]
class Account(flask_frontdesk.AccountMixin, Base):
    name: Mapped[str] = mapped_column(String(100))


# [end]


# [note]
def _now() -> datetime:
    return datetime.now(UTC)


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE"), index=True
    )
    author_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(String(500))
    pinned_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=_now)


# [end]
