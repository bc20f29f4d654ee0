"""Multi-tenancy by subdomain: team.example.com is the workspace `team`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import (
    active_account_required,
    active_member_required,
    blueprints,
    current_member,
    current_workspace,
)
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.use_workspaces()


# [resolver]
DOMAIN = os.environ.get("DOMAIN", "example.com")


@frontdesk.workspace_resolver
def by_subdomain(
    session: Any, account: Any, path_params: Mapping[str, str], headers: Mapping[str, str]
) -> str | None:
    host = headers.get("host", "").partition(":")[0]
    if host.endswith(f".{DOMAIN}"):
        return host.removesuffix(f".{DOMAIN}")
    return None


# [end]


def create_app(database_url: str = "sqlite:///subdomains.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")

    # [view]
    @app.get("/api/dashboard")
    @active_account_required
    @active_member_required
    def dashboard() -> dict[str, str]:
        return {"workspace": current_workspace.slug, "role": current_member.type}

    # [end]
    with app.app_context():
        db.create_all()
    return app
