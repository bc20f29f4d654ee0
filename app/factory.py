"""The service: Frontdesk running by itself, one more host of its own slices."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from werkzeug.middleware.proxy_fix import ProxyFix

from .accounts.service import Accounts
from .auth.idp import ACCOUNT_CREATE, IdpUserInfo
from .auth.routes import blueprint as auth
from .cli.migrations import migrations
from .core.clock import Clock
from .core.database import Base, engine_options
from .core.desk import current_desk, service
from .core.folders import ROOT, templates_folder
from .core.http.cookies import CookieSessions
from .core.http.docs import blueprint as docs
from .core.http.problems import handlers
from .core.http.reading import MAX_BODY
from .core.logging import configure_logging, log_requests
from .core.settings import (
    ComposedSettings,
    CoreSettings,
    Namespaces,
    SettingsError,
    load,
    namespaces,
)
from .delivery.courier import Courier
from .delivery.engine import Engine
from .delivery.post import Post
from .extension import Frontdesk
from .health.routes import blueprint as health
from .notifications.admin_routes import blueprint as admin_notifications
from .notifications.routes import blueprint as notifications
from .profiles.routes import blueprint as profiles
from .tasks.routes import blueprint as tasks
from .workspaces.routes import blueprint as workspaces


def create_app(
    settings: object | None = None,
    *,
    clock: Clock | None = None,
    post: Post | None = None,
    engine: Engine | None = None,
) -> Flask:
    """The whole service on one application, set up by `config.Settings` unless told otherwise."""
    settings = settings if settings is not None else _own_settings()
    chosen = namespaces(settings)
    app = Flask(
        "frontdesk",
        root_path=str(ROOT),
        template_folder=str(templates_folder()),
        static_folder=None,
    )
    app.session_interface = CookieSessions()
    _configure(app, chosen)
    db = _database(app)
    # Here and not above: a host that brings its own model must never meet ours.
    from .accounts.account import Account

    frontdesk = Frontdesk()
    if chosen.auth.ALLOW_IDP_OAUTH_SIGNUP:
        frontdesk.on(ACCOUNT_CREATE)(create_account)
    frontdesk.use_workspaces()
    frontdesk.init_app(
        app,
        db,
        settings=chosen,
        account_model=Account,
        clock=clock,
        post=post,
        engine=engine,
        owns_application=True,
    )
    if chosen.core.TRUSTED_PROXIES:
        hops = chosen.core.TRUSTED_PROXIES
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops)  # type: ignore[method-assign]
    app.cli.add_command(migrations(app, db))
    for kind, handler in handlers():
        app.register_error_handler(kind, handler)
    if app.debug:
        log_requests(app)
    _mount(app, chosen.core.API_V1_STR)
    _monitor(app, db, chosen.core)
    return app


def _database(app: Flask) -> SQLAlchemy:
    try:
        db = SQLAlchemy(app, model_class=Base, session_options={"expire_on_commit": False})
    except OSError as error:
        # A relative SQLite path makes the instance folder.
        raise SettingsError(f"Cannot write {error.filename}: {error.strerror}.") from None
    with app.app_context():
        if db.engine.dialect.name == "postgresql":
            from .core.postgres import prepare_postgres

            prepare_postgres(db.engine)
    return db


def create_account(person: IdpUserInfo, options: dict[str, Any]) -> None:
    """The service's own answer to a sign-up; no password opens the account until one is set."""
    service(Accounts).create(person.email, password=None)


def _mount(app: Flask, prefix: str) -> None:
    app.register_blueprint(health, url_prefix=prefix)
    app.register_blueprint(auth, url_prefix=prefix)
    app.register_blueprint(tasks, url_prefix=f"{prefix}/tasks")
    app.register_blueprint(workspaces, url_prefix=f"{prefix}/workspaces")
    app.register_blueprint(profiles, url_prefix=f"{prefix}/profiles")
    app.register_blueprint(
        profiles, url_prefix=f"{prefix}/<workspace_slug>/profiles", name="workspace_profiles"
    )
    app.register_blueprint(notifications, url_prefix=f"{prefix}/notifications")
    app.register_blueprint(admin_notifications, url_prefix=f"{prefix}/admin/notifications")
    app.register_blueprint(docs, url_prefix=prefix)


def _monitor(app: Flask, db: SQLAlchemy, core: CoreSettings) -> None:
    try:
        if core.METRICS_ENABLED:
            from .monitoring.metrics import measure
            from .monitoring.queue import QueueMetrics
            from .monitoring.routes import blueprint

            with app.app_context():
                current_desk.add(measure(app, db.engine))
                current_desk.add(QueueMetrics(service(Courier), current_desk.clock))
            app.register_blueprint(blueprint)
        if core.TRACING_ENABLED:
            from .monitoring.tracing import trace

            trace(app)
    except ModuleNotFoundError as error:
        extra = "metrics" if "prometheus" in str(error.name) else "tracing"
        raise SettingsError(
            f"Monitoring needs a package that is not installed: {error.name}."
            f" Install flask-frontdesk[{extra}]."
        ) from None


def _own_settings() -> ComposedSettings:
    """The service's settings live in the repository's config.py; the installed package has none."""
    if __package__ == "app":
        kind: type[ComposedSettings] = import_module("config").Settings
        return load(kind)
    return load(ComposedSettings)


def _configure(app: Flask, chosen: Namespaces) -> None:
    core = chosen.core
    url = core.DATABASE_URL.get_secret_value()
    app.config.update(
        SECRET_KEY=chosen.secret_key,
        SECRET_KEY_FALLBACKS=[key.get_secret_value() for key in core.SECRET_KEY_FALLBACKS],
        SESSION_COOKIE_NAME="frontdesk_session",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=not app.debug,
        SQLALCHEMY_DATABASE_URI=url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(url, core.DATABASE_POOL_SIZE),
        MAX_CONTENT_LENGTH=MAX_BODY,
        MAX_FORM_MEMORY_SIZE=MAX_BODY,
        # Our handlers answer an unexpected error in tests and debug mode too.
        TRAP_HTTP_EXCEPTIONS=False,
    )
    form = core.LOG_FORMAT
    if form == "auto":
        form = "text" if app.debug else "json"
    configure_logging(form, core.LOG_LEVEL)
