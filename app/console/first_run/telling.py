"""What a server says in its log while there is no root account."""

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

# Of several workers that start together, one says it.
_TOLD_SECONDS = 10


def tell_beside(app: Flask) -> None:
    """In a thread: a database that does not answer keeps no worker from serving."""
    Thread(target=tell, args=[app], name="frontdesk-first-root", daemon=True).start()


def tell(app: Flask) -> None:
    context: Context = app.extensions[EXTENSION]
    with app.app_context():
        try:
            first = FirstRoot(context)
            if first.is_missing() and context.keystore.add("first-root-told", "1", _TOLD_SECONDS):
                log.warning(
                    "No account has the role root. Run `flask --app wsgi frontdesk first-root` for"
                    " a link to the page that creates it."
                )
                _print_link(context, first)
        except (SQLAlchemyError, Unavailable) as error:
            # Of a database that is not migrated, or not there yet, others tell.
            log.info("Whether there is a root account is not known: %s", type(error).__name__)


def _print_link(context: Context, first: FirstRoot) -> None:
    """To a terminal only, and once in the life of a link: logs are stored and read by others."""
    if sys.stderr.isatty() and context.keystore.add("first-root-printed", "1", HOURS * 3600):
        link = first.link()
        click.echo(f"Create the first root account within {HOURS} hours: {link}", err=True)
