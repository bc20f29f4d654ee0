"""Processes of the server: forked workers, and the one that serves under `flask run`."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import Flask


def after_fork(reset: Callable[[], None]) -> None:
    """Have a method called in every forked process, for as long as its object lives."""
    method = weakref.WeakMethod(reset)

    def call() -> None:
        if (found := method()) is not None:
            found()

    os.register_at_fork(after_in_child=call)


def forget_connections(app: Flask) -> None:
    """Let go of the parent's database connections without closing them: they are still its own.

    The connections to Redis are forgotten by themselves (redis-py's pool).
    """
    with app.app_context():
        for engine in app.extensions["sqlalchemy"].engines.values():
            engine.dispose(close=False)


def is_serving_process() -> bool:
    """Whether `flask run` serves requests in this process. With the reloader a child process
    does, and its parent only watches the files."""
    # Of all processes only the service's development server needs these.
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
