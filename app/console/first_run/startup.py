"""The warning at start while no root account exists."""

import logging
import sys
from threading import Thread

import click
from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from ...core.context import EXTENSION, Context
from ...core.errors import Unavailable
from .first_root import HOURS, FirstRoot

log = logging.getLogger(__name__)

# Of several workers that start together, one logs the warning.
_LOCK_SECONDS = 10


def start_logging_thread(app: Flask) -> None:
    """Run in a thread, so that an unavailable database does not delay a worker."""
    Thread(target=log_missing_root, args=[app], name="frontdesk-first-root", daemon=True).start()


def log_missing_root(app: Flask) -> None:
    context: Context = app.extensions[EXTENSION]
    with app.app_context():
        try:
            first_root = FirstRoot(context)
            if first_root.is_missing() and context.keystore.add(
                "first-root-logged", "1", _LOCK_SECONDS
            ):
                log.warning(
                    "No account has the role root. Run `flask --app wsgi frontdesk first-root` for"
                    " a link to the page that creates it."
                )
                _print_link(context, first_root)
        except (SQLAlchemyError, Unavailable) as error:
            # Other checks report a database that is missing or not migrated.
            log.info("Cannot check for a root account: %s", type(error).__name__)


def _print_link(context: Context, first_root: FirstRoot) -> None:
    """Print the link only to a terminal, once while it is valid: others can read logs."""
    if sys.stderr.isatty() and context.keystore.add("first-root-printed", "1", HOURS * 3600):
        link = first_root.link()
        click.echo(f"Create the first root account within {HOURS} hours: {link}", err=True)
