"""An application with users from fastapi-users, which Frontdesk uses unchanged."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import CHAR, BigInteger, String, case, func
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, synonym
from sqlalchemy.types import TypeDecorator, TypeEngine

db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk()


class GUID(TypeDecorator[UUID]):
    """The type from `fastapi_users_db_sqlalchemy.generics`, which can be imported instead."""

    impl = CHAR(36)
    cache_ok = True
    python_type = UUID

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = dialect.name == "postgresql"
        return dialect.type_descriptor(postgresql.UUID(as_uuid=False) if native else CHAR(36))

    def process_bind_param(self, value: UUID | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> UUID | None:
        return value if value is None or isinstance(value, UUID) else UUID(value)


# [model]
class User(db.Model):
    # The existing columns.
    id: Mapped[UUID] = mapped_column(GUID, primary_key=True, default=uuid4)
    address: Mapped[str] = mapped_column("email", String(320), unique=True)
    hashed_password: Mapped[str] = mapped_column(String(1024))
    is_active: Mapped[bool] = mapped_column(default=True)
    is_superuser: Mapped[bool] = mapped_column(default=False)
    is_verified: Mapped[bool] = mapped_column(default=False)

    # The name that Frontdesk uses.
    password_hash = synonym("hashed_password")

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
        return "active" if self.is_active else self.other_status or "inactive"

    @status.inplace.setter
    def _set_status(self, status: str) -> None:
        self.is_active = status == "active"
        self.other_status = None if self.is_active else status

    @status.inplace.expression
    @classmethod
    def _status(cls) -> Any:
        return case((cls.is_active, "active"), else_=func.coalesce(cls.other_status, "inactive"))

    @hybrid_property
    def role(self) -> str:
        return "root" if self.is_superuser else "user"

    @role.inplace.setter
    def _set_role(self, role: str) -> None:
        self.is_superuser = role == "root"

    @role.inplace.expression
    @classmethod
    def _role(cls) -> Any:
        return case((cls.is_superuser, "root"), else_="user")

    # New columns. A boolean cannot store that an account is pending, suspended or being deleted.
    other_status: Mapped[str | None] = mapped_column(String(50))
    phone: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    current_workspace_id: Mapped[int | None] = mapped_column(BigInteger)
    tokens_valid_from: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    logged_out_at: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)
    email_unverified_since: Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)


# [end]


def render_item(kind: str, item: Any, context: Any) -> Any:
    """Frontdesk's columns that refer to accounts have the type of their ids."""
    if kind == "type" and isinstance(item, GUID):
        context.imports.add(f"from {__name__} import GUID")
        return "GUID()"
    return flask_frontdesk.render_item(kind, item, context)


def create_app(database_url: str) -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "set it from the environment"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    Migrate(app, db, render_item=render_item)
    frontdesk.init_app(app, db, account_model=User)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    return app
