"""The tables as Flask-SQLAlchemy models."""

from datetime import datetime

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


class Account(db.Model):  # type: ignore[name-defined, misc]
    __tablename__ = "accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    password_hash: Mapped[str]
    status: Mapped[str]
    role: Mapped[str]
    phone: Mapped[str | None]
    last_login_date: Mapped[datetime | None]
    current_workspace_id: Mapped[int | None]
    created_at: Mapped[datetime]


class Notification(db.Model):  # type: ignore[name-defined, misc]
    __tablename__ = "frontdesk_notifications"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    message: Mapped[str]
    channels: Mapped[list[str]] = mapped_column(JSON)
    sender_id: Mapped[int | None]
    notification_type: Mapped[str]
    scope: Mapped[str]
    created_at: Mapped[datetime]


class InboxItem(db.Model):  # type: ignore[name-defined, misc]
    __tablename__ = "frontdesk_inbox"

    id: Mapped[int] = mapped_column(primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("frontdesk_notifications.id"))
    receiver_id: Mapped[int]
    is_read: Mapped[bool]
    notification: Mapped[Notification] = relationship()
