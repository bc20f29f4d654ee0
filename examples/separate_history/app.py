"""An application whose migrations run next to Frontdesk's, and what is left without Frontdesk."""

from __future__ import annotations

import os

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    __tablename__ = "accounts"

    name: Mapped[str] = mapped_column(String(100), server_default="")


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    workspace_id: Mapped[int | None] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", name="fk_notes_workspace_id")
    )
    text: Mapped[str] = mapped_column(String(100))


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.use_workspaces()


def create_app() -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = os.environ.get("DATABASE_URL", "sqlite:///notes.db")
    db.init_app(app)
    Migrate(app, db, render_item=flask_frontdesk.render_item)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/inbox")
    return app
