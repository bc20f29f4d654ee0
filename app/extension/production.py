"""Checks for misconfigurations in production: a warning each at startup, or a failed startup."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..accounts.passwords import DEFAULT_PASSWORD
from ..auth.settings import AuthSettings
from ..core.config.environment import SettingsError
from ..core.context import Context
from ..core.keystore import MemoryKeystore
from ..core.process.folders import is_exposed

log = logging.getLogger(__name__)

MIN_KEY_BYTES = 32
MIN_CHARACTERS = 8
# Placeholders for a key in documentation and examples.
KNOWN_KEYS = re.findall(
    r"\S+",
    """
    changethis changeme change-me change_me secret secretkey secret-key secret_key supersecret
    super-secret password passw0rd dev development debug test testing example insecure default
    your-secret-key your_secret_key mysecret my-secret-key jwt-secret flask frontdesk key abc
    123456789 1234567890 0123456789abcdef deadbeef
    """,
)
# One or several placeholders, with any punctuation between.
_KNOWN = re.compile(rf"(?:{'|'.join(map(re.escape, KNOWN_KEYS))}|[\W_])+")


def check_production(context: Context) -> None:
    """Warn or raise as CORE.PRODUCTION_CHECKS says, except on the command line and in tests."""
    if os.environ.get("FLASK_RUN_FROM_CLI") == "true" or context.app.testing:
        return
    problems = list(find_misconfigurations(context))
    if problems and context.settings.core.PRODUCTION_CHECKS == "refuse":
        raise SettingsError("CORE.PRODUCTION_CHECKS aborts startup: " + " ".join(problems))
    for problem in problems:
        log.warning("%s", problem)


def find_misconfigurations(context: Context) -> Iterator[str]:
    settings = context.settings
    if settings.secret_key_is_set and (why := weakness(settings.secret_key)):
        yield f"SECRET_KEY {why}: an attacker who guesses it can sign in to any account."
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if workers > 1 and isinstance(context.keystore, MemoryKeystore):
        yield (
            f"The shared state store is in memory with {workers} workers: each worker counts rate"
            " limits by itself, and a code by email works in the worker that sent it only."
            " Configure Redis, or CORE__KEYSTORE=database."
        )
    if not settings.of(AuthSettings).RATE_LIMITS_ENABLED:
        yield "AUTH.RATE_LIMITS_ENABLED is off: attackers can guess passwords and codes."
    if context.app.debug:
        yield "Debug mode is on: errors show internal details, and cookies are sent without TLS."
    if settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        yield f"FIRST_SUPERUSER_PASSWORD is its default, {DEFAULT_PASSWORD}."
    if settings.of(AuthSettings).SIGNING_KEYS and (path := _exposed_key_file(context)):
        yield f"Other users of this machine can read {path}, and sign access tokens with its keys."
    if pooler := _pooler_problem(context):
        yield f"{pooler}."


def _exposed_key_file(context: Context) -> Path | None:
    from ..auth.tokens.signing_keys import SigningKeys

    path = context.get(SigningKeys).path
    return path if path is not None and is_exposed(path) else None


def _pooler_problem(context: Context) -> str | None:
    with context.app.app_context():
        engine = context.db.engine
        if engine.dialect.name != "postgresql":
            return None
        from ..core.db.pooler import prepared_problem  # imports the driver

        return prepared_problem(engine)


def weakness(key: str) -> str | None:
    """Return why a secret key can be guessed, or None."""
    if _KNOWN.fullmatch(key.lower()):
        return "is a placeholder from documentation or examples"
    if len(key.encode()) < MIN_KEY_BYTES:
        return f"has fewer than {MIN_KEY_BYTES} bytes"
    if len(set(key)) < MIN_CHARACTERS:
        return f"has fewer than {MIN_CHARACTERS} different characters"
    return None
