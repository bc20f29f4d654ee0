"""The service: an application that mounts all of Frontdesk."""

from __future__ import annotations

import hashlib
import logging
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.engine import make_url
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from . import blueprints
from .accounts.account import Account, ServiceBase
from .accounts.service import Accounts
from .auth.actions import ACCOUNT_CREATE
from .auth.settings import AuthSettings
from .cli.groups import migrations
from .core.config.environment import SettingsError, load
from .core.config.settings import DEFAULT, CoreSettings, LoadedSettings
from .core.context import service
from .core.db.base import create_private_database, engine_options
from .core.extras import missing_extra
from .core.process.folders import ROOT, make_private_folder, templates_folder
from .core.process.logging import configure_logging, log_requests
from .core.process.servers import block_import, is_command, is_serving_process
from .core.types import SignalOptions
from .core.web.application import Application, LazySessionInterface, warn_of_proxies
from .core.web.problems import handlers
from .core.web.request_data import MAX_BODY
from .extension.options import NO_PARTS, Parts
from .extension.settings import ServiceSettings
from .extension.sources import service_settings
from .frontdesk import Frontdesk

if TYPE_CHECKING:
    from .auth.idp.users import IdpUserInfo


def create_app(settings: object | None = None, *, parts: Parts = NO_PARTS) -> Flask:
    """Create the standalone service.

    Args:
        settings: A settings object. Default: `config.Settings`, read from the environment.
        parts: Components that replace Frontdesk's.

    Returns:
        The Flask application.

    Raises:
        SettingsError: A setting has an invalid value; the message names the variable.

    Example::

        app = flask_frontdesk.create_app()
    """
    settings = settings if settings is not None else _default_settings()
    chosen = _with_console(service_settings(settings))
    app = Application(
        "frontdesk",
        root_path=str(ROOT),
        template_folder=str(templates_folder()),
        static_folder=None,
    )
    # A path with repeated slashes is a different path, as it is for the rules of a proxy.
    app.url_map.merge_slashes = False
    _configure(app, chosen)
    db = _database(app, chosen.core)
    if chosen.core.REDIS_URL or chosen.core.REDIS_HOST:
        _load_redis()
    frontdesk = Frontdesk()
    if chosen.of(AuthSettings).ALLOW_IDP_OAUTH_SIGNUP:
        frontdesk.on(ACCOUNT_CREATE.name)(create_account)
    frontdesk.use_workspaces()
    frontdesk.init_app(
        app, db, settings=chosen, account_model=Account, parts=parts, owns_application=True
    )
    if chosen.core.TRUSTED_PROXIES:
        hops = chosen.core.TRUSTED_PROXIES
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops)  # type: ignore[method-assign]
    warn_of_proxies(app, chosen.core.TRUSTED_PROXIES)
    app.cli.add_command(migrations(app, db))
    for kind, handler in handlers():
        app.register_error_handler(kind, handler)
    if app.debug:
        log_requests(app)
    frontdesk.mount(app, chosen.core.API_V1_STR)
    _mount(app, chosen.core)
    if is_serving_process():
        frontdesk.start_deliveries(app)
    return app


def _with_console(chosen: LoadedSettings) -> LoadedSettings:
    """Enable session cookies for the console, even if the API does not accept them."""
    auth = chosen.of(AuthSettings)
    if not chosen.core.CONSOLE_ENABLED or auth.keeps_cookies:
        return chosen
    return chosen.derive("AUTH", COOKIE_SESSIONS="alone")


def _database(app: Flask, core: CoreSettings) -> SQLAlchemy:
    url = make_url(app.config["SQLALCHEMY_DATABASE_URI"])
    if url.get_backend_name() == "postgresql" and (line := missing_extra("postgresql")):
        raise SettingsError(f"CORE__DATABASE_URL names PostgreSQL, and needs an extra: {line}")
    is_sqlite = url.get_backend_name() == "sqlite"
    name = (url.database or "").removeprefix("file:")
    try:
        if is_sqlite and name not in ("", ":memory:") and not Path(name).is_absolute():
            # Flask-SQLAlchemy would create the folder with the umask's mode.
            make_private_folder(Path(app.instance_path))
        db = SQLAlchemy(app, model_class=ServiceBase, session_options={"expire_on_commit": False})
    except OSError as error:
        raise SettingsError(f"Cannot write {error.filename}: {error.strerror}.") from None
    with app.app_context():
        if is_sqlite:
            create_private_database(db.engine)
        else:
            from .core.db.postgres import prepare_postgres

            prepare_postgres(db.engine, core.DATABASE_PREPARED)
    return db


def _load_redis() -> None:
    """Import redis without its own metrics, which load sixty modules of OpenTelemetry."""
    if not missing_extra("redis"):
        with block_import("opentelemetry"):
            import redis  # noqa: F401


def create_account(person: IdpUserInfo, options: SignalOptions) -> None:
    """Create an account without a password for a new user of the identity provider."""
    service(Accounts).create(person.email, password=None)


def _mount(app: Flask, core: CoreSettings) -> None:
    """Mount the blueprints outside of the API."""
    app.register_blueprint(blueprints.well_known)
    if core.CONSOLE_ENABLED:
        app.register_blueprint(blueprints.console, url_prefix=core.CONSOLE_PATH)
        app.register_error_handler(HTTPException, _show_error_page)
    if core.METRICS_ENABLED:
        app.register_blueprint(blueprints.monitoring)


def _show_error_page(error: HTTPException) -> Any:
    """Show an error page to browsers for errors outside of Frontdesk's routes."""
    from .console.errors import handle_unrouted

    return handle_unrouted(error)


def _default_settings() -> ServiceSettings:
    """Load the settings class of the repository's config.py, which the installed package lacks."""
    if __package__ == "app":
        kind: type[ServiceSettings] = import_module("config").Settings
        return load(kind)
    return load(ServiceSettings)


def _configure(app: Flask, chosen: LoadedSettings) -> None:
    core = chosen.core
    url = core.DATABASE_URL.get_secret_value()
    app.config.update(
        SECRET_KEY=chosen.secret_key,
        SECRET_KEY_FALLBACKS=chosen.former_secret_keys,
        # The prefix `__Host-` prevents subdomains and plain HTTP from setting the cookie.
        SESSION_COOKIE_NAME="frontdesk_session" if app.debug else "__Host-frontdesk_session",
        SESSION_COOKIE_PATH="/",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=not app.debug,
        SQLALCHEMY_DATABASE_URI=url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(url, core.DATABASE_POOL_SIZE),
        MAX_CONTENT_LENGTH=MAX_BODY,
        MAX_FORM_MEMORY_SIZE=MAX_BODY,
        # The error handlers respond to unexpected errors in tests and debug mode too.
        TRAP_HTTP_EXCEPTIONS=False,
    )
    app.session_interface = _Sessions()
    _configure_logging(app, chosen)


class _Sessions(LazySessionInterface):
    """Flask's sessions are signed with SHA-1 by default."""

    digest_method = staticmethod(hashlib.sha256)


def _configure_logging(app: Flask, chosen: LoadedSettings) -> None:
    """Configure the service's logging. Commands log only warnings and errors by default."""
    form, level = chosen.core.LOG_FORMAT, chosen.core.LOG_LEVEL
    in_command = is_command()
    if form == "auto":
        form = "text" if app.debug or (in_command and sys.stderr.isatty()) else "json"
    is_quiet = in_command and chosen.origin("CORE", "LOG_LEVEL") == DEFAULT
    configure_logging(form, "WARNING" if is_quiet else level)
    if is_quiet:
        # `flask db upgrade` names the migrations that it runs.
        logging.getLogger("alembic.runtime.migration").setLevel("INFO")
