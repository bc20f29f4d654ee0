from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.database import Base, Id, UtcDateTime, account_key

URL_LENGTH = 2048


class Profile(Base):
    """One for each account; the unique index holds when two are created at once."""

    __tablename__ = "profiles"
    __table_args__ = {"sqlite_autoincrement": True}

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[int] = account_key(unique=True)
    first_name: Mapped[str] = mapped_column(String(100))
    last_name: Mapped[str] = mapped_column(String(100))
    date_of_birth: Mapped[date]
    gender: Mapped[str] = mapped_column(String(50))
    marital_status: Mapped[str] = mapped_column(String(50))
    phone: Mapped[str | None] = mapped_column(String(50))
    address: Mapped[str | None] = mapped_column(String(255))
    city: Mapped[str | None] = mapped_column(String(100))
    state: Mapped[str | None] = mapped_column(String(100))
    country: Mapped[str | None] = mapped_column(String(100))
    postal_code: Mapped[str | None] = mapped_column(String(20))
    bio: Mapped[str | None] = mapped_column(String(2000))
    # Somebody's address of a picture, or the name of one in our store; never both.
    avatar: Mapped[str | None] = mapped_column(String(URL_LENGTH))
    avatar_file: Mapped[str | None] = mapped_column(String(64), unique=True)
    # What clients keep here beside the properties that we know.
    extra: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
