from __future__ import annotations

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.database import Base, Id


class Task(Base):
    __tablename__ = "tasks"
    __table_args__ = (
        Index("ix_tasks_owner_id", "owner", "id"),
        # SQLite would otherwise give a deleted row's id to the next one.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    done: Mapped[bool]
    priority: Mapped[str] = mapped_column(String(50))
    owner: Mapped[str] = mapped_column(String(255))
