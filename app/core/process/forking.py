"""What a process that is forked off must leave to its parent, and make anew for itself."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

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
