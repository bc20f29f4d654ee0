"""A pinboard that makes the console its own: pages, entries, a panel, and the brand."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

import flask_frontdesk
from flask import Flask, request, url_for
from flask_frontdesk import active_account_required, blueprints, roles_required
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from werkzeug.wrappers import Response


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str]
    is_approved: Mapped[bool] = mapped_column(default=False)
    pinned_at: Mapped[datetime] = mapped_column(default=lambda: datetime.now(UTC))


class Settings:
    AUTH = flask_frontdesk.AuthSettings(COOKIE_SESSIONS="alone")
    BRAND = flask_frontdesk.BrandSettings(
        NAME="Pinboard",
        COLOR="#0b6b4f",
        LOGO_URL="/static/logo.svg",
        LOGO_DARK_URL="/static/logo-dark.svg",
        ICON_URL="/static/icon.svg",
    )


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
APPROVED = frontdesk.notification_kind("approvals", name="Approved notes", channels=["inapp"])

frontdesk.console.hide("mail_templates_page", "settings_page")
frontdesk.console.link("Handbook", "https://www.example.com", section="Help", icon="book")
frontdesk.console.home = ".notes"


def notes_to_review(account: Account) -> int:
    waiting = select(func.count(Note.id)).where(Note.is_approved.is_(False))
    return db.session.scalar(waiting) or 0


@frontdesk.console.page("notes", title="Notes", icon="inbox", position=1)
@active_account_required
def notes() -> Response:
    own = select(Note).where(Note.account_id == frontdesk.current_account.id)
    found = db.session.scalars(own.order_by(Note.id.desc()).limit(50)).all()
    return frontdesk.console.render("notes.html", notes=found)


@frontdesk.console.page("pin_note", "/notes/new", methods=["POST"], keep=["text"])
@active_account_required
def pin_note() -> Response:
    with frontdesk.transaction() as session:
        text = request.form["text"].strip()[:200]
        session.add(Note(account_id=frontdesk.current_account.id, text=text))
    return frontdesk.console.redirect(".notes", "Pinned.")


@frontdesk.console.page(
    "review",
    title="Notes to review",
    icon="check",
    section="Administration",
    roles=("admin", "root"),
    position=1,
    count=notes_to_review,
)
@active_account_required
@roles_required("admin", "root")
def review() -> Response:
    waiting = select(Note, Account.email).join(Account).where(Note.is_approved.is_(False))
    found = db.session.execute(waiting.order_by(Note.id).limit(50)).all()
    return frontdesk.console.render("review.html", waiting=found)


@frontdesk.console.page("approve", "/review/<int:note_id>", methods=["POST"])
@active_account_required
@roles_required("admin", "root")
def approve(note_id: int) -> Response:
    with frontdesk.transaction():
        note = db.get_or_404(Note, note_id)
        note.is_approved = True
        frontdesk.notify(
            "Note approved",
            f"Everyone sees your note: {note.text}.",
            kind=APPROVED,
            url="/notes",
            receivers=[note.account_id],
        )
    return frontdesk.console.redirect(".review", "Approved.")


@frontdesk.console.account_panel("Notes of the account")
def notes_of_account(account: Account) -> tuple[str, dict[str, Any]]:
    own = select(Note).where(Note.account_id == account.id)
    found = db.session.scalars(own.order_by(Note.id.desc()).limit(10)).all()
    return "account_notes.html", {"notes": found}


def create_app(database_url: str = "sqlite:///pinboard.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, settings=Settings, account_model=Account)
    frontdesk.mount(app, "/api", only=["notifications", "profiles", "administration"])
    app.register_blueprint(blueprints.console, url_prefix="/console")

    @app.get("/")
    def home() -> str:
        return f'<a href="{url_for("console.dashboard")}">Your pinboard</a>'

    with app.app_context():
        db.create_all()
    return app
