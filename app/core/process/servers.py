"""Processes of the server: forks, `flask run`, commands, and imports that the service avoids."""

import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import Flask


def after_fork(reset: Callable[[], None]) -> None:
    """Call a method in every forked process, as long as its object exists."""
    method = weakref.WeakMethod(reset)

    def call() -> None:
        if (found := method()) is not None:
            found()

    os.register_at_fork(after_in_child=call)


def forget_connections(app: Flask) -> None:
    """Forget the parent's database connections in a forked process, without closing them.

    redis-py's pool does the same by itself.
    """
    with app.app_context():
        for engine in app.extensions["sqlalchemy"].engines.values():
            engine.dispose(close=False)


def is_serving_process() -> bool:
    """Return whether `flask run` serves requests in this process.

    With the reloader a child process serves, and its parent only watches the files.
    """
    # Imported here, because only the development server needs them.
    import click
    from flask.cli import run_command
    from flask.helpers import get_debug_flag
    from werkzeug.serving import is_running_from_reloader

    command = click.get_current_context(silent=True)
    if command is None or command.command is not run_command:
        return False
    reloads = command.params.get("reload")
    if reloads is None:
        reloads = get_debug_flag()
    return is_running_from_reloader() or not reloads


def is_command() -> bool:
    """Return whether this process runs a command of `flask` other than `flask run`."""
    if os.environ.get("FLASK_RUN_FROM_CLI") != "true":
        return False
    import click
    from flask.cli import run_command

    command = click.get_current_context(silent=True)
    return command is None or command.command is not run_command


@contextmanager
def block_import(name: str) -> Iterator[None]:
    """Make imports of an optional module fail inside the block, unless it was imported before.

    Only for processes of the service: in an application, other code may need the module.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
