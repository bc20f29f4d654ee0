"""The state store in a Redis master that sentinels monitor, and replace if it fails."""

from __future__ import annotations

from typing import Any

import redis
from redis.connection import parse_url
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from ..config.redis_url import RedisServers
from .redis import RedisKeystore, connection_options

# Short, because a connection to the master asks silent sentinels one after the other.
SENTINEL_SECONDS = 0.4


class Sentinels(Sentinel):
    """Asks the sentinels for the master, for any number of threads at once.

    The base class loses sentinels when two threads change their order at the same time, and hides
    a timeout, which must open the circuit breaker.
    """

    def discover_master(self, service_name: str) -> tuple[str, int]:
        reasons: list[str] = []
        timeout: redis.TimeoutError | None = None
        for sentinel in self.sentinels:
            try:
                masters: Any = sentinel.sentinel_masters()
            except redis.RedisError as error:
                reasons.append(str(error))
                timeout = error if isinstance(error, redis.TimeoutError) else timeout
                continue
            state = masters.get(service_name)
            if state and state["is_master"] and not (state["is_sdown"] or state["is_odown"]):
                # The next search begins with the sentinel that responds.
                others = [other for other in self.sentinels if other is not sentinel]
                self.sentinels = [sentinel, *others]
                return state["ip"], state["port"]
            reasons.append("the master is down" if state else "a sentinel does not know the name")
        text = f"No master '{service_name}': {'; '.join(dict.fromkeys(reasons))}"
        if timeout is not None:
            raise redis.TimeoutError(text) from timeout
        raise MasterNotFoundError(text)


def open_sentinel(servers: RedisServers) -> RedisKeystore:
    """Return a store that connects at first use; raise ValueError or TypeError for options that
    redis-py does not accept."""
    # redis-py has no types for these.
    parse: Any = parse_url
    create_pool: Any = SentinelConnectionPool
    create_sentinels: Any = Sentinels
    options: dict[str, Any] = parse(servers.url)
    for name in ("host", "port", "connection_class"):
        options.pop(name, None)
    tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
    sentinel_options = {
        **connection_options(SENTINEL_SECONDS, SENTINEL_SECONDS),
        **servers.sentinel_login,
        **({"ssl": True, **tls} if servers.uses_tls else {}),
    }
    pool = create_pool(
        servers.master,
        create_sentinels(servers.addresses, sentinel_kwargs=sentinel_options),
        connection_class=(
            SentinelManagedSSLConnection if servers.uses_tls else SentinelManagedConnection
        ),
        **(connection_options() | options),
    )
    return RedisKeystore.from_pool(pool, servers.where)
