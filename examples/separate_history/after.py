"""The application without Frontdesk, on the same database."""

from __future__ import annotations

import os
from datetime import datetime

import bcrypt
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, DateTime, ForeignKey, Integer, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Id = BigInteger().with_variant(Integer, "sqlite")


class Base(DeclarativeBase):
    pass


# [account]
class Account(Base):
    __tablename__ = "accounts"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(50))
    role: Mapped[str] = mapped_column(String(50))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    name: Mapped[str] = mapped_column(String(100), server_default="")

    def has_password(self, password: str) -> bool:
        hashed = (self.password_hash or "").encode()
        return hashed.startswith(b"$2b$") and bcrypt.checkpw(password.encode(), hashed)


# [end]


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    workspace_id: Mapped[int | None] = mapped_column(Id)
    text: Mapped[str] = mapped_column(String(100))


db = SQLAlchemy(model_class=Base)


def create_app() -> Flask:
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = os.environ.get("DATABASE_URL", "sqlite:///notes.db")
    db.init_app(app)
    Migrate(app, db)
    return app
