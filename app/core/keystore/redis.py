"""The state store in Redis, shared by all workers on all machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ..process.circuit_breaker import CircuitBreaker
from .base import KeystoreUnavailable

# The timeouts limit how long a request waits for a server that does not respond.
CONNECT_SECONDS = 1.0
RESPONSE_SECONDS = 1.5

# One script, because a worker can die between INCRBY and the expiry of a new counter.
_COUNT = """
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return total
"""

P = ParamSpec("P")
R = TypeVar("R")


def _converts_errors(
    method: Callable[Concatenate[RedisKeystore, P], R],
) -> Callable[Concatenate[RedisKeystore, P], R]:
    @wraps(method)
    def call(self: RedisKeystore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.breaker.is_rejecting:
            raise KeystoreUnavailable
        try:
            return method(self, *args, **kwargs)
        except redis.TimeoutError as error:
            self.breaker.report_timeout()
            raise KeystoreUnavailable from error
        except redis.RedisError as error:
            raise KeystoreUnavailable from error

    return call


class RedisKeystore:
    def __init__(self, pool: redis.ConnectionPool) -> None:
        self._pool = pool
        self._client: Any = redis.Redis(connection_pool=pool)
        self.breaker = CircuitBreaker("keystore", self._reach)

    @classmethod
    def from_url(cls, url: str, **options: object) -> RedisKeystore:
        """Connect to a server; raise ValueError or TypeError for an invalid URL or option."""
        pool = redis.ConnectionPool.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=RESPONSE_SECONDS,
            # A command that timed out is not repeated.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            **options,
        )
        # The pool checks its options only when it creates a connection.
        pool.connection_class(**pool.connection_kwargs)
        return cls(pool)

    @_converts_errors
    def get(self, key: str) -> str | None:
        return cast("str | None", self._client.get(key))

    @_converts_errors
    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return cast("list[str | None]", self._client.mget(keys)) if keys else []

    @_converts_errors
    def put(self, key: str, value: str, seconds: int) -> None:
        self._client.set(key, value, ex=max(1, seconds))

    @_converts_errors
    def drop(self, *keys: str) -> None:
        self._client.delete(*keys)

    @_converts_errors
    def take(self, key: str) -> str | None:
        return cast("str | None", self._client.getdel(key))

    @_converts_errors
    def add(self, key: str, value: str, seconds: int) -> bool:
        return self._client.set(key, value, ex=max(1, seconds), nx=True) is not None

    @_converts_errors
    def count(self, key: str, seconds: int, by: int = 1) -> int:
        return int(self._client.eval(_COUNT, 1, key, by, max(1, seconds)))

    @_converts_errors
    def remaining(self, key: str) -> int:
        return max(0, int(self._client.ttl(key)))

    @_converts_errors
    def time(self) -> float:
        """Return the server's time, in seconds since 1970."""
        seconds, microseconds = self._client.time()
        return float(seconds) + float(microseconds) / 1e6

    @property
    def address(self) -> str:
        options = self._pool.connection_kwargs
        return str(options.get("path") or f"{options.get('host')}:{options.get('port', 6379)}")

    def _reach(self) -> None:
        """Ping the server on a new connection, because the idle ones may be lost."""
        self._pool.disconnect(inuse_connections=False)
        self._client.ping()
