from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import Base, Id
from ..core.db.tables import WHEN_MOUNTED


class Task(Base):
    __tablename__ = "frontdesk_tasks"
    __table_args__ = (
        Index("ix_frontdesk_tasks_owner_id", "owner", "id"),
        # Without it, SQLite would use the id of a deleted row again.
        {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    done: Mapped[bool]
    priority: Mapped[str] = mapped_column(String(50))
    owner: Mapped[str] = mapped_column(String(255))
