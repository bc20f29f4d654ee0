"""Small applications that mount Frontdesk."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk
from app.accounts.account import Account, ServiceBase
from app.auth.settings import AuthSettings
from app.core.config.settings import CoreSettings
from app.core.web.blueprint import Blueprint
from app.health import blueprint as health
from app.tasks.routes import blueprint as tasks


class HostSettings:
    SECRET_KEY = "the host's own secret key, long enough"
    CORE = CoreSettings(PROJECT_NAME="Host", LOG_LEVEL="ERROR")
    AUTH = AuthSettings(BCRYPT_ROUNDS=4)


def settings_with_active(*statuses: str) -> HostSettings:
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, ACTIVE_STATUSES=list(statuses))
    return settings


def plain_app(database_url: str = "sqlite://", **config: Any) -> tuple[Flask, SQLAlchemy]:
    """Return an application without Frontdesk, and its database."""
    host = Flask("host")
    host.config.update(SQLALCHEMY_DATABASE_URI=database_url, **config)
    return host, SQLAlchemy(host, model_class=ServiceBase)


def host_with(
    *blueprints: tuple[Blueprint, str], frontdesk: Frontdesk | None = None, **options: Any
) -> Flask:
    """Return an application with an in-memory database and only these blueprints."""
    host, db = plain_app()
    options = {"settings": HostSettings(), "account_model": Account, **options}
    (frontdesk or Frontdesk()).init_app(host, db, **options)
    for blueprint, prefix in blueprints:
        host.register_blueprint(blueprint, url_prefix=prefix)
    with host.app_context():
        db.create_all()
    return host


def make_host(database_url: str) -> Flask:
    """Return an application that mounts health and tasks, and has its own error handlers."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db = SQLAlchemy(host, model_class=ServiceBase)
    Frontdesk().init_app(host, db, settings=HostSettings())
    host.register_blueprint(health, url_prefix="/desk")
    host.register_blueprint(tasks, url_prefix="/desk/tasks")

    @host.get("/own")
    def own() -> str:
        raise ZeroDivisionError("an error of the host")

    @host.get("/slashed/")
    def slashed() -> str:
        return "host: slashed"

    @host.errorhandler(404)
    def not_found(error: Exception) -> tuple[str, int]:
        return "host: not found", 404

    @host.errorhandler(405)
    def wrong_method(error: Exception) -> tuple[str, int]:
        return "host: wrong method", 405

    @host.errorhandler(500)
    def broken(error: Exception) -> tuple[str, int]:
        return "host: broken", 500

    return host
