"""The library's user table with Frontdesk's additional columns, and the notification tables."""
# mypy: disable-error-code="import-not-found"
# mypy: allow-subclassing-any

import os
from collections.abc import AsyncIterator
from datetime import datetime

from fastapi_users.db import SQLAlchemyBaseUserTable
from sqlalchemy import JSON, BigInteger, DateTime, ForeignKey
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# As many connections as concurrent requests of a worker: with the default of five, every request
# beyond would open and close a connection.
engine = create_async_engine(
    os.environ["BENCH_DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://"), pool_size=16
)
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    type_annotation_map = {datetime: DateTime(timezone=True), int: BigInteger}


class User(SQLAlchemyBaseUserTable[int], Base):
    __tablename__ = "fastapi_accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    role: Mapped[str]
    phone: Mapped[str | None]
    last_login_date: Mapped[datetime | None]
    current_workspace_id: Mapped[int | None]
    created_at: Mapped[datetime]


class Notification(Base):
    __tablename__ = "frontdesk_notifications"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    message: Mapped[str]
    channels: Mapped[list[str]] = mapped_column(JSON)
    sender_id: Mapped[int | None]
    notification_type: Mapped[str]
    scope: Mapped[str]
    created_at: Mapped[datetime]


class InboxItem(Base):
    __tablename__ = "frontdesk_inbox"

    id: Mapped[int] = mapped_column(primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("frontdesk_notifications.id"))
    receiver_id: Mapped[int]
    is_read: Mapped[bool]


async def get_session() -> AsyncIterator[AsyncSession]:
    async with sessions() as session:
        yield session
