"""The keystore: short-lived words shared by all workers, such as revocations, codes and counters.

Every entry expires, and what two requests may race for is one atomic call. `open_keystore` chooses
between memory (one process), Redis, and the SQL database (several workers on one machine).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import Engine

from ..clock import Clock
from ..config.environment import SettingsError
from ..config.settings import CoreSettings
from ..extras import missing_extra
from .base import Keystore, KeystoreUnavailable
from .database import DatabaseKeystore
from .memory import MemoryKeystore

__all__ = ["DatabaseKeystore", "Keystore", "KeystoreUnavailable", "MemoryKeystore", "open_keystore"]

log = logging.getLogger(__name__)


def open_keystore(core: CoreSettings, engine: Callable[[], Engine], clock: Clock) -> Keystore:
    if core.KEYSTORE == "memory":
        return MemoryKeystore(clock)
    if core.KEYSTORE == "database":
        return DatabaseKeystore(engine, clock)
    return _redis(core) or MemoryKeystore(clock)


def _redis(core: CoreSettings) -> Keystore | None:
    """Redis where it is configured whole; otherwise nothing, with a warning that says why."""
    url = core.REDIS_URL.get_secret_value() if core.REDIS_URL else ""
    password = core.REDIS_PASSWORD.get_secret_value() if core.REDIS_PASSWORD else ""
    if not url and not (core.REDIS_HOST and password):
        if core.REDIS_HOST or password or core.KEYSTORE == "redis":
            missing = "CORE.REDIS_PASSWORD" if core.REDIS_HOST else "CORE.REDIS_HOST"
            log.warning("Redis is configured without %s: the keystore is in memory.", missing)
        else:
            log.warning("No Redis is configured: the keystore is in memory, for this process only.")
        return None
    if line := missing_extra("redis"):
        raise SettingsError(f"Redis is configured, and needs an extra: {line}")
    from .redis import RedisKeystore

    try:
        if url:
            return RedisKeystore.from_url(url)
        return RedisKeystore.from_url(
            f"redis://{core.REDIS_HOST}:{core.REDIS_PORT}/0", password=password
        )
    except ValueError as error:
        log.warning("The Redis settings cannot be used (%s): the keystore is in memory.", error)
        return None
