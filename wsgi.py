"""The service, for `flask --app wsgi …` and `gunicorn -c gunicorn.conf.py wsgi:app`."""

from __future__ import annotations

import gc
import sys
from typing import Any

from flask import Flask

from app.core.process.servers import block_import


def load_service() -> Flask:
    """Return the application, created quickly; exit with a sentence about wrong settings.

    The savings are those of a start with 607 ms and a worker with 94 MiB (docs/performance.md).
    """
    # The start creates no garbage: saves 146 ms.
    gc.disable()
    if "generate-key" in sys.argv:
        return _without_settings()
    from app import create_app
    from app.core.config.environment import SettingsError, load
    from config import Settings

    try:
        settings = load(Settings)
        if not settings.AUTH.SIGNING_KEYS:
            # PyJWT imports elliptic curves, but HMAC signs access tokens: saves 47 ms and 8 MiB.
            with block_import("cryptography"):
                import jwt.algorithms  # noqa: F401
        service = create_app(settings)
    except SettingsError as error:
        sys.exit(str(error))
    # Workers share the memory of these objects until a collection writes to it.
    gc.freeze()
    gc.enable()
    return service


def _without_settings() -> Flask:
    """Return an application for `flask frontdesk generate-key`, which needs no valid settings."""
    from app.cli.groups import frontdesk

    bare = Flask("frontdesk")
    bare.cli.add_command(frontdesk)
    return bare


app = load_service()


def __getattr__(name: str) -> Any:
    """Return the Celery application for `celery -A wsgi:celery worker`, created on first access."""
    if name == "celery":
        from app.core.errors import SetupError
        from app.delivery.worker.celery import celery_of

        try:
            return celery_of(app)
        except SetupError as error:
            sys.exit(str(error))
    raise AttributeError(name)
