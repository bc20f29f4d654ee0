"""The shared state store: expiring entries that all workers share, such as codes and counters.

Each operation that requests can race for is one atomic call. `open_keystore` chooses between memory
(one process), Redis, and the SQL database (several workers on one machine).
"""

import logging
from collections.abc import Callable

from sqlalchemy import Engine

from ..clock import Clock
from ..config.environment import SettingsError
from ..config.redis_url import RedisServers, parse_servers
from ..config.settings import CoreSettings
from ..extras import missing_extra
from ..process.servers import is_command
from .base import Keystore, KeystoreUnavailable, check_keystore_writes
from .database import DatabaseKeystore
from .memory import MemoryKeystore

__all__ = [
    "DatabaseKeystore",
    "Keystore",
    "KeystoreUnavailable",
    "MemoryKeystore",
    "check_keystore_writes",
    "open_keystore",
]

log = logging.getLogger(__name__)

_MALFORMED = (
    "must be a valid URL such as redis://:password@host:6379/0, with special characters of the"
    " password percent-encoded"
)
_UNKNOWN_OPTION = (
    "must have only connection options of redis-py after the question mark, and sentinel_username"
    " and sentinel_password for Redis Sentinel"
)

_IN_MEMORY = "rate-limit counters and one-time codes are kept in this process's memory."


def open_keystore(core: CoreSettings, engine: Callable[[], Engine], clock: Clock) -> Keystore:
    if core.KEYSTORE == "memory":
        return MemoryKeystore(clock)
    if core.KEYSTORE == "database":
        return DatabaseKeystore(engine, clock)
    return _redis(core) or MemoryKeystore(clock)


def _redis(core: CoreSettings) -> Keystore | None:
    """Return a store in Redis, or None with a warning if the settings are not sufficient.

    Raises SettingsError instead if CORE.KEYSTORE requires Redis.
    """
    url = core.REDIS_URL.get_secret_value() if core.REDIS_URL else ""
    password = core.REDIS_PASSWORD.get_secret_value() if core.REDIS_PASSWORD else ""
    if not url and not (core.REDIS_HOST and password):
        if core.KEYSTORE == "redis":
            raise SettingsError(
                "Invalid settings: CORE__KEYSTORE: redis needs CORE__REDIS_URL, or CORE__REDIS_HOST"
                " and CORE__REDIS_PASSWORD"
            )
        if core.REDIS_HOST or password:
            missing = "CORE.REDIS_PASSWORD" if core.REDIS_HOST else "CORE.REDIS_HOST"
            log.warning("Redis is configured without %s: %s", missing, _IN_MEMORY)
        elif not is_command():
            log.warning("Redis is not configured: %s", _IN_MEMORY)
        return None
    if line := missing_extra("redis"):
        raise SettingsError(f"Redis is configured, and needs an extra: {line}")
    from .redis import RedisKeystore

    servers = parse_servers(url)
    try:
        if servers is not None:
            return _of_servers(servers)
        if url:
            return RedisKeystore.from_url(url)
        return RedisKeystore.from_url(
            f"redis://{core.REDIS_HOST}:{core.REDIS_PORT}/0", password=password
        )
    except (ValueError, TypeError):
        # The error's message may contain a part of the password.
        name = "CORE__REDIS_URL" if url else "CORE__REDIS_HOST"
        if servers is not None:
            raise SettingsError(f"Invalid settings: {name}: {_UNKNOWN_OPTION}") from None
        if core.KEYSTORE == "redis":
            raise SettingsError(f"Invalid settings: {name}: {_MALFORMED}") from None
        log.warning("%s %s: %s", name, _MALFORMED, _IN_MEMORY)
        return None


def _of_servers(servers: RedisServers) -> Keystore:
    if servers.master is None:
        from .redis_cluster import open_cluster

        return open_cluster(servers)
    from .redis_sentinel import open_sentinel

    return open_sentinel(servers)
