"""What a process that is forked off must leave to its parent."""

from __future__ import annotations

from flask import Flask


def forget_connections(app: Flask) -> None:
    """Let go of the parent's database connections without closing them: they are still its own.

    The Redis client sees by itself that its process is another one.
    """
    with app.app_context():
        for engine in app.extensions["sqlalchemy"].engines.values():
            engine.dispose(close=False)
