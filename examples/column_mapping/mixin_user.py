"""A model with the mixin's columns, for a table that has a boolean for active users."""

from __future__ import annotations

from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String, case, func
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk()


# [model]
class User(flask_frontdesk.AccountMixin, db.Model):
    __tablename__ = "users"

    # The existing column, and a new one for statuses that a boolean cannot store.
    is_active: Mapped[bool] = mapped_column(default=True)
    other_status: Mapped[str | None] = mapped_column(String(50))

    # In the place of the mixin's column.
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
