"""The service, for `flask --app wsgi …` and `gunicorn -c gunicorn.conf.py wsgi:app`."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from app.core.process.loading import patterns_when_used, without

# What a start makes is there to stay: looking through it for garbage, over and over, finds none.
gc.disable()
# PyJWT would load a library of elliptic curves beside the HMAC that our tokens are signed with.
with without("cryptography"):
    import jwt.algorithms  # noqa: F401
# marshmallow would compile a pattern for e-mail addresses that takes longer than all others
# together, and nobody here asks it for one.
with patterns_when_used("marshmallow.validate"):
    import marshmallow.validate  # noqa: F401
# pydantic would look for plugins in every package that is installed: it reads settings here alone.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from app import create_app  # noqa: E402
from app.core.config.environment import SettingsError  # noqa: E402

try:
    app = create_app()
except SettingsError as error:
    sys.exit(str(error))

# Nor do the workers look through it, which would also copy the memory that they share.
gc.freeze()
gc.enable()


def __getattr__(name: str) -> Any:
    """`celery -A wsgi:celery worker`: made only when asked for."""
    if name == "celery":
        from app.core.errors import SetupError
        from app.delivery.worker.celery import celery_of

        try:
            return celery_of(app)
        except SetupError as error:
            sys.exit(str(error))
    raise AttributeError(name)
