"""An application on Flask-SQLAlchemy-Lite, with models from SQLAlchemy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import Page, active_account_required, answers, blueprints, takes
from flask_sqlalchemy_lite import SQLAlchemy
from marshmallow import Schema, fields, validate
from sqlalchemy import DateTime, ForeignKey, String, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


# [model]
class Model(DeclarativeBase):
    pass


class User(flask_frontdesk.AccountMixin, Model):
    __tablename__ = "users"


class Note(Model):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(String(200))
    pinned_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk[User]()
PINNED = frontdesk.notification_kind("notes", name="Notes", channels=["inapp"])
# [end]


class NoteCreate(Schema):
    text = fields.String(required=True, validate=validate.Length(min=1, max=200))


class NoteRead(Schema):
    id = fields.Integer(required=True)
    text = fields.String(required=True)


def create_app(database_url: str = "sqlite:///pinboard.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    # [app]
    app.config["SQLALCHEMY_ENGINES"] = {"default": database_url}
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=User)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/inbox")
    # [end]

    @app.post("/api/notes")
    @active_account_required
    @takes(json=NoteCreate)
    @answers(201, NoteRead)
    def pin(json: dict[str, Any]) -> Note:
        """Pin a note"""
        user = frontdesk.current_account
        with frontdesk.transaction():
            note = Note(user_id=user.id, text=json["text"], pinned_at=datetime.now(UTC))
            db.session.add(note)
            frontdesk.notify(
                "Note pinned", json["text"], kind=PINNED, url="/notes", receivers=[user]
            )
        return note

    @app.get("/api/notes")
    @active_account_required
    @takes(query=Page)
    @answers(200, NoteRead, paged=True)
    def notes(query: dict[str, Any]) -> Sequence[Note]:
        """List the caller's notes"""
        mine = select(Note).where(Note.user_id == frontdesk.current_account.id).order_by(Note.id)
        return db.session.scalars(mine.offset(query["offset"]).limit(query["limit"])).all()

    with app.app_context():
        Model.metadata.create_all(db.engine)
    return app
