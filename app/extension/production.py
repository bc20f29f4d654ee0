"""What endangers an application in production: one line each at a server's start, or no start."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator

from ..accounts.passwords import DEFAULT_PASSWORD
from ..auth.settings import AuthSettings
from ..core.config.environment import SettingsError
from ..core.context import Context
from ..core.keystore import MemoryKeystore

log = logging.getLogger(__name__)

SHORTEST_KEY = 32
FEWEST_CHARACTERS = 8
# What documents and examples of all sorts show in the place of a key.
KNOWN_KEYS = re.findall(
    r"\S+",
    """
    changethis changeme change-me change_me secret secretkey secret-key secret_key supersecret
    super-secret password passw0rd dev development debug test testing example insecure default
    your-secret-key your_secret_key mysecret my-secret-key jwt-secret flask frontdesk key abc
    123456789 1234567890 0123456789abcdef deadbeef
    """,
)
# One of them, or several, with whatever signs between.
_KNOWN = re.compile(rf"(?:{'|'.join(map(re.escape, KNOWN_KEYS))}|[\W_])+")


def check_production(context: Context) -> None:
    """Warn, or refuse to start, as CORE.PRODUCTION_CHECKS says; the command line is no server."""
    if os.environ.get("FLASK_RUN_FROM_CLI") == "true" or context.app.testing:
        return
    dangers = list(find_dangers(context))
    if dangers and context.settings.core.PRODUCTION_CHECKS == "refuse":
        raise SettingsError("CORE.PRODUCTION_CHECKS refuses this start: " + " ".join(dangers))
    for danger in dangers:
        log.warning("%s", danger)


def find_dangers(context: Context) -> Iterator[str]:
    settings = context.settings
    if settings.secret_key_is_set and (why := weakness(settings.secret_key)):
        yield f"SECRET_KEY {why}: whoever guesses it signs in as anybody."
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if workers > 1 and isinstance(context.keystore, MemoryKeystore):
        yield (
            f"The keystore is in memory with {workers} workers: each worker counts rate limits by"
            " itself, and a code by email works in the worker that sent it only. Configure Redis,"
            " or CORE__KEYSTORE=database."
        )
    if not settings.of(AuthSettings).RATE_LIMITS_ENABLED:
        yield "AUTH.RATE_LIMITS_ENABLED is off: passwords and codes may be guessed without end."
    if context.app.debug:
        yield "Debug mode is on: errors tell of the inside, and cookies travel without TLS."
    if settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        yield f"FIRST_SUPERUSER_PASSWORD is its default, {DEFAULT_PASSWORD}."
    if danger := _pooler_danger(context):
        yield f"{danger}."


def _pooler_danger(context: Context) -> str | None:
    with context.app.app_context():
        engine = context.db.engine
        if engine.dialect.name != "postgresql":
            return None
        from ..core.db.pooler import pooler_danger  # loads the driver

        return pooler_danger(engine)


def weakness(key: str) -> str | None:
    """Why others may know or guess this key, or nothing."""
    if _KNOWN.fullmatch(key.lower()):
        return "is one that documents and examples show"
    if len(key.encode()) < SHORTEST_KEY:
        return f"has under {SHORTEST_KEY} bytes"
    if len(set(key)) < FEWEST_CHARACTERS:
        return f"has fewer than {FEWEST_CHARACTERS} different characters"
    return None
