"""An application with existing users: UUIDs, werkzeug's hashes, Flask-Login and Flask-WTF.

The table stays as it is: Frontdesk uses the existing class.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID, uuid4

import flask_frontdesk
from flask import Flask, redirect, render_template_string, request
from flask_frontdesk import active_account_required, blueprints
from flask_login import LoginManager, UserMixin, current_user, login_required, login_user
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from flask_wtf import CSRFProtect
from sqlalchemy import ForeignKey, String, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from werkzeug.wrappers import Response


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)
login_manager = LoginManager()
csrf = CSRFProtect()


# [user]
class User(flask_frontdesk.AccountMixin, UserMixin, Base):
    __tablename__ = "users"

    # The existing columns: a UUID, and werkzeug's hash in a column with another name.
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    password_hash: Mapped[str | None] = mapped_column("pw_hash", String(255))
    name: Mapped[str] = mapped_column(String(100))

    @property
    def is_active(self) -> bool:
        return frontdesk.accounts.is_active(self)

    def get_id(self) -> str:
        """The value of the cookie. A new password or email address changes it and ends older
        cookies."""
        since = self.tokens_valid_from
        return str(self.id) if since is None else f"{self.id} {since.timestamp()}"


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(String(100))


frontdesk = flask_frontdesk.Frontdesk[User]()
# [end]


# [loader]
@login_manager.user_loader
def load_user(value: str) -> User | None:
    user = frontdesk.accounts.by_id(UUID(value.split()[0]))
    if user is None or user.get_id() != value or user.logged_out_at is not None:
        return None
    return user if user.is_active else None


# [end]

FORM = """
<form method="post">
  <input type="hidden" name="csrf_token" value="{{ csrf_token() }}">
  <p>{{ error }}</p>
  <input name="email" type="email"> <input name="password" type="password"> <button>Sign in</button>
</form>
"""


def create_app(database_url: str = "") -> Flask:
    app = Flask(__name__)
    database_url = database_url or os.environ.get("DATABASE_URL", "sqlite:///pinboard.db")
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    # [app]
    db.init_app(app)
    # Batch mode: SQLite cannot add a column with the current time as its default.
    Migrate(app, db, render_as_batch=True, render_item=flask_frontdesk.render_item)
    login_manager.init_app(app)
    csrf.init_app(app)
    frontdesk.init_app(app, db, account_model=User)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.profiles, url_prefix="/api/profiles")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/inbox")
    app.register_blueprint(blueprints.admin_notifications, url_prefix="/api/broadcasts")
    # [end]

    @app.route("/login", methods=["GET", "POST"])
    def login() -> str | Response:
        error = ""
        if request.method == "POST":
            try:
                user = frontdesk.verify_password(request.form["email"], request.form["password"])
                frontdesk.sign_in(user, how="password")
                login_user(user)
                return redirect("/notes")
            except flask_frontdesk.Problem as problem:
                error = problem.detail
        return render_template_string(FORM, error=error)

    # [views]
    def notes_of(user: User) -> list[str]:
        return list(db.session.scalars(select(Note.text).where(Note.user_id == user.id)))

    @app.get("/notes")
    @login_required
    def notes() -> dict[str, Any]:
        """The existing page, with the existing cookie"""
        return {"name": current_user.name, "notes": notes_of(current_user)}

    @app.get("/api/notes")
    @active_account_required
    def api_notes() -> list[str]:
        """The same data for API clients, with a token"""
        return notes_of(frontdesk.current_account)

    # [end]
    return app
