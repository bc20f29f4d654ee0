"""The same application with Frontdesk: its users are accounts, its notes are unchanged."""

from __future__ import annotations

import flask_frontdesk
from flask import Flask
from flask_frontdesk import active_account_required, blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


# [model]
class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    name: Mapped[str] = mapped_column(String(200))
    notes: Mapped[list[Note]] = relationship(order_by="Note.id", passive_deletes=True)


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str]


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
# [end]


def create_app(database_url: str = "sqlite:///pinboard.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "set it from the environment"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    # [migrate]
    db.init_app(app)
    Migrate(app, db)
    frontdesk.init_app(app, db, account_model=Account)
    # [end]
    app.register_blueprint(blueprints.auth, url_prefix="/api")

    @app.get("/notes")
    @active_account_required
    def notes() -> list[str]:
        return [note.text for note in frontdesk.current_account.notes]

    return app
