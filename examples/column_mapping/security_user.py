"""An application with users from Flask-Security, which Frontdesk uses unchanged."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, Column, ForeignKey, String, Table, case, func, select
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship, synonym

db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk()

roles_users = Table(
    "roles_users",
    db.metadata,
    Column("user_id", ForeignKey("user.id")),
    Column("role_id", ForeignKey("role.id")),
)


class Role(db.Model):
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)


# [model]
class User(db.Model):
    # The existing columns. The email column has another name, since its values can have capitals.
    id: Mapped[int] = mapped_column(primary_key=True)
    address: Mapped[str] = mapped_column("email", String(255), unique=True)
    password: Mapped[str | None] = mapped_column(String(255))
    active: Mapped[bool]
    fs_uniquifier: Mapped[str] = mapped_column(String(64), unique=True, default=lambda: uuid4().hex)
    create_datetime: Mapped[datetime] = mapped_column(server_default=func.now())
    us_phone_number: Mapped[str | None] = mapped_column(String(128))
    roles: Mapped[list[Role]] = relationship(secondary=roles_users)

    # The name that Frontdesk uses.
    password_hash = synonym("password")
    phone = synonym("us_phone_number")
    created_at = synonym("create_datetime")

    @hybrid_property
    def email(self) -> str:
        return self.address.lower()

    @email.inplace.setter
    def _set_email(self, email: str) -> None:
        self.address = email

    @email.inplace.expression
    @classmethod
    def _email(cls) -> Any:
        return func.lower(cls.address)

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
        return "admin" if any(role.name == "admin" for role in self.roles) else "user"

    @role.inplace.setter
    def _set_role(self, role: str) -> None:
        with db.session.no_autoflush:
            found = db.session.scalar(select(Role).where(Role.name == role))
        others = [each for each in self.roles if each.name not in ("admin", "user")]
        self.roles = [*others, found or Role(name=role)]

    @role.inplace.expression
    @classmethod
    def _role(cls) -> Any:
        return case((cls.roles.any(Role.name == "admin"), "admin"), else_="user")

    # New columns. A boolean cannot store that an account is pending, suspended or being deleted.
    other_status: Mapped[str | None] = mapped_column(String(50))
    current_workspace_id: Mapped[int | None] = mapped_column(BigInteger)
    tokens_valid_from: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    logged_out_at: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    email_unverified_since: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)


@frontdesk.on("account-deleted")
def forget_roles(account: User, options: dict[str, Any]) -> None:
    """Delete the account's rows in the second table, which would block its deletion."""
    account.roles = []
    options["session"].flush()


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
