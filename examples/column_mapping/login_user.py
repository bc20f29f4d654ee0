"""The new application next to the old one (old.py): the same users, the same database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, String, case, func
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk()


# [model]
class User(db.Model):
    __tablename__ = "users"

    # The existing columns.
    id: Mapped[int] = mapped_column(primary_key=True)
    mail: Mapped[str] = mapped_column(unique=True)
    pw: Mapped[str] = mapped_column(default="!")
    active: Mapped[bool] = mapped_column(default=True)
    admin: Mapped[bool] = mapped_column(default=False)

    @hybrid_property
    def email(self) -> str:
        return self.mail.lower()

    @email.inplace.setter
    def _set_email(self, email: str) -> None:
        self.mail = email

    @email.inplace.expression
    @classmethod
    def _email(cls) -> Any:
        return func.lower(cls.mail)

    @hybrid_property
    def status(self) -> str:
        return "active" if self.active else self.other_status or "inactive"

    @status.inplace.setter
    def _set_status(self, status: str) -> None:
        self.active = status == "active"
        self.other_status = None if self.active else status

    @status.inplace.expression
    @classmethod
    def _status(cls) -> Any:
        return case((cls.active, "active"), else_=func.coalesce(cls.other_status, "inactive"))

    @hybrid_property
    def role(self) -> str:
        return "admin" if self.admin else "user"

    @role.inplace.setter
    def _set_role(self, role: str) -> None:
        self.admin = role == "admin"

    @role.inplace.expression
    @classmethod
    def _role(cls) -> Any:
        return case((cls.admin, "admin"), else_="user")

    # New columns. A boolean cannot store that an account is pending, suspended or being deleted.
    other_status: Mapped[str | None] = mapped_column(String(50))
    phone: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    current_workspace_id: Mapped[int | None] = mapped_column(BigInteger)
    tokens_valid_from: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    logged_out_at: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    email_unverified_since: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)

    # [both]
    # The old application cannot verify Frontdesk's hashes. While it runs, they have a separate
    # column, which is valid until the old application changes its hash.
    new_hash: Mapped[str | None] = mapped_column(String(255))
    old_hash: Mapped[str | None]

    @hybrid_property
    def password_hash(self) -> str | None:
        return self.new_hash if self.old_hash == self.pw else self.pw

    @password_hash.inplace.setter
    def _set_password_hash(self, password_hash: str | None) -> None:
        self.pw = self.pw or "!"
        self.new_hash, self.old_hash = password_hash, self.pw

    @password_hash.inplace.expression
    @classmethod
    def _password_hash(cls) -> Any:
        return case((cls.old_hash == cls.pw, cls.new_hash), else_=cls.pw)


@frontdesk.on("password-reset")
def end_the_old_password(account: User, options: dict[str, Any]) -> None:
    """Disable the old password: the old application accepts no password for this value."""
    account.pw = account.old_hash = "!"


# [end]


def create_app(database_url: str) -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "set it from the environment"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    Migrate(app, db, render_item=flask_frontdesk.render_item)
    frontdesk.init_app(app, db, account_model=User)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    return app
