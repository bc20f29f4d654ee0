"""`make run`, second part: migrates the database and serves, in the environment."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from contextlib import redirect_stdout, suppress
from errno import EACCES
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import click
from flask.cli import ScriptInfo
from sqlalchemy.exc import SQLAlchemyError

from .environment import stop
from .run import cannot_write

if TYPE_CHECKING:
    from flask import Flask

    from app.core.context import Context

HOST = "127.0.0.1"
NAME = "localhost"


def main() -> None:
    options = argparse.ArgumentParser(prog="make run")
    options.add_argument("port", type=int)
    options.add_argument("--first", action="store_true", help=".env is new")
    chosen = options.parse_args()
    # Human-readable logs, and cookies without TLS.
    os.environ["FLASK_DEBUG"] = "1"
    set_own_url(chosen.port)
    # Stops with a sentence about an invalid setting.
    from app.delivery.worker.engine import Engine
    from wsgi import app

    prepare(app)
    print(welcome(app, chosen.port, is_first=chosen.first), flush=True)
    app.extensions["frontdesk"].get(Engine).start()
    # Flask's own message would repeat the URL.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    app.run(HOST, chosen.port, threaded=True, use_reloader=False, use_debugger=False)


def set_own_url(port: int) -> None:
    """Set the URL in emails to this server, unless the settings name another one. It has a host
    name, because passkeys do not work with an IP address."""
    from app.core.config.environment import SettingsError, load
    from config import Settings

    # Invalid settings are reported when the application is created.
    with suppress(SettingsError):
        if load(Settings).CORE.PUBLIC_URL is None:
            os.environ["CORE__PUBLIC_URL"] = f"http://{NAME}:{port}"


def prepare(app: Flask) -> None:
    """Migrate the database and create the first account."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    reject_read_only_database(app)
    try:
        command(app, "db", "upgrade")
        with redirect_stdout(StringIO()):
            command(app, "accounts", "ensure-superuser")
    except click.ClickException as error:
        stop(error.format_message())
    except SQLAlchemyError as error:
        stop(f"The database cannot be used: {first_line(error)}")
    except OSError as error:
        stop(cannot_write(error))


def reject_read_only_database(app: Flask) -> None:
    """Report a read-only database at the start, and not with the first write."""
    with app.app_context():
        url = app.extensions["sqlalchemy"].engine.url
    if url.get_backend_name() == "sqlite" and url.database:
        file = Path(url.database)
        for path in (file.parent, file):
            if path.exists() and not os.access(path, os.W_OK):
                stop(cannot_write(PermissionError(EACCES, os.strerror(EACCES), str(path))))


def command(app: Flask, *arguments: str) -> None:
    app.cli.main(
        list(arguments),
        prog_name="flask",
        obj=ScriptInfo(create_app=lambda: app),
        standalone_mode=False,
    )


def welcome(app: Flask, port: int, *, is_first: bool) -> str:
    context: Context = app.extensions["frontdesk"]
    settings = context.settings
    api = f"http://{NAME}:{port}{settings.core.API_V1_STR}"
    password = "FIRST_SUPERUSER_PASSWORD in .env"
    if is_first:
        password = f"{settings.top_level('FIRST_SUPERUSER_PASSWORD')} (stored in .env)"
    rows = [
        *(_pages(context, port) if _has_page(app) else []),
        ("API reference", f"{api}/docs"),
        ("Sign in as", settings.top_level("FIRST_SUPERUSER")),
        ("with password", password),
        ("Stop", "Ctrl+C"),
    ]
    lines = [f"  {name:<15}{value}" for name, value in rows]
    return "\n".join(["", f"{settings.core.PROJECT_NAME} is running.", "", *lines, ""])


def _has_page(app: Flask) -> bool:
    return "console.home" in app.view_functions


def _pages(context: Context, port: int) -> list[tuple[str, str]]:
    """Return the URLs of the pages, with the host name in emails: a browser treats another name as
    another site."""
    from app.delivery.mail.base import Mailer
    from app.delivery.mail.mailer import FolderMailer

    base = f"http://{NAME}:{port}{context.settings.core.CONSOLE_PATH.rstrip('/')}"
    rows = [("Open", base)]
    if isinstance(context.get(Mailer), FolderMailer):  # type: ignore[type-abstract]
        rows.append(("Emails", f"{base}/outbox"))
    return rows


def first_line(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
