"""An application that mounts the sign-in routes: plain Flask, flat settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from pydantic_settings import BaseSettings

from app import AuthSettings, CoreSettings, Frontdesk
from app.accounts.account import Account, ServiceBase
from app.blueprints import auth
from app.core.actions import Listener

MakeHost = Callable[..., Flask]


class HostSettings(CoreSettings, AuthSettings, BaseSettings):  # type: ignore[misc]
    pass


def make_host(
    database_url: str,
    settings: dict[str, Any],
    *,
    on_sign_up: Listener | None = None,
    model: Callable[[SQLAlchemy], Any] | None = None,
    secret_key: str | None = "the session's own secret",
    **options: Any,
) -> Flask:
    app = Flask("host")
    app.config.update(SECRET_KEY=secret_key, SQLALCHEMY_DATABASE_URI=database_url)
    db = SQLAlchemy(app) if model else SQLAlchemy(app, model_class=ServiceBase)
    account_model = model(db) if model else Account
    frontdesk = Frontdesk()
    if on_sign_up is not None:
        frontdesk.on("idp-account-create")(on_sign_up)
    given = HostSettings(**settings)
    frontdesk.init_app(app, db, settings=given, account_model=account_model, **options)
    app.register_blueprint(auth, url_prefix="/api/v1")
    return app
