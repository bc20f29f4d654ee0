"""The state store in Redis, shared by all workers on all machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from ..process.circuit_breaker import CircuitBreaker
from ..request import note_effect
from .base import KeystoreUnavailable

# The timeouts limit how long a request waits for a server that does not respond.
CONNECT_SECONDS = 1.0
RESPONSE_SECONDS = 1.5
# Shorter for a server that others replace.
REPLACED_CONNECT_SECONDS = 0.5
REPLACED_RESPONSE_SECONDS = 0.75

# One script, because a worker can die between INCRBY and the expiry of a new counter.
_COUNT = """
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return total
"""

K = TypeVar("K", bound="RedisKeystore")
P = ParamSpec("P")
R = TypeVar("R")


def converts_errors(method: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    @wraps(method)
    def call(self: K, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.breaker.is_rejecting:
            raise KeystoreUnavailable
        try:
            if self.breaker.openings != self._seen_openings:
                self._recover()
            return method(self, *args, **kwargs)
        except (redis.RedisError, RedisClusterException) as error:
            if _is_timeout(error):
                self.breaker.report_timeout()
            raise KeystoreUnavailable from error

    return call


def _is_timeout(error: BaseException | None) -> bool:
    """Return whether a timeout caused the error: a cluster's client wraps it in another error."""
    while error is not None:
        if isinstance(error, redis.TimeoutError):
            return True
        error = error.__cause__
    return False


def connection_options(
    connect: float = REPLACED_CONNECT_SECONDS, response: float = REPLACED_RESPONSE_SECONDS
) -> dict[str, Any]:
    return {
        "decode_responses": True,
        "socket_connect_timeout": connect,
        "socket_timeout": response,
        # A command that timed out is not repeated.
        "retry": Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    }


class RedisKeystore:
    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        # The server as messages name it.
        self.address = address
        self.breaker = CircuitBreaker("keystore", self._reach)
        self._seen_openings = 0

    @classmethod
    def from_url(cls, url: str, **options: object) -> RedisKeystore:
        """Connect to a server; raise ValueError or TypeError for an invalid URL or option."""
        defaults = connection_options(CONNECT_SECONDS, RESPONSE_SECONDS)
        pool = redis.ConnectionPool.from_url(url, **defaults, **options)
        at = pool.connection_kwargs
        address = at.get("path") or f"{at.get('host')}:{at.get('port', 6379)}"
        return cls.from_pool(pool, str(address))

    @classmethod
    def from_pool(cls, pool: redis.ConnectionPool, address: str) -> RedisKeystore:
        # The pool checks its options only when it creates a connection.
        pool.connection_class(**pool.connection_kwargs)
        return cls(redis.Redis(connection_pool=pool), address)

    @converts_errors
    def get(self, key: str) -> str | None:
        return cast("str | None", self._client.get(key))

    @converts_errors
    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return cast("list[str | None]", self._client.mget(keys)) if keys else []

    @converts_errors
    def put(self, key: str, value: str, seconds: int) -> None:
        self._client.set(key, value, ex=max(1, seconds))

    @converts_errors
    def drop(self, *keys: str) -> None:
        self._client.delete(*keys)

    @converts_errors
    def take(self, key: str) -> str | None:
        note_effect()
        return cast("str | None", self._client.getdel(key))

    @converts_errors
    def add(self, key: str, value: str, seconds: int) -> bool:
        note_effect()
        return self._client.set(key, value, ex=max(1, seconds), nx=True) is not None

    @converts_errors
    def count(self, key: str, seconds: int, by: int = 1) -> int:
        return int(self._client.eval(_COUNT, 1, key, by, max(1, seconds)))

    @converts_errors
    def remaining(self, key: str) -> int:
        return max(0, int(self._client.ttl(key)))

    @converts_errors
    def time(self) -> float:
        """Return the server's time, in seconds since 1970."""
        seconds, microseconds = self._client.time()
        return float(seconds) + float(microseconds) / 1e6

    def _recover(self) -> None:
        """Forget what this worker knew before an outage that any worker noticed."""
        openings = self.breaker.openings
        try:
            self._reconnect()
        finally:
            self._seen_openings = openings

    def _reconnect(self) -> None:
        """Close the idle connections, which may be lost or lead to a former master."""
        self._client.connection_pool.disconnect(inuse_connections=False)

    def _reach(self) -> None:
        self._reconnect()
        self._client.ping()
