"""The keystore in Redis, shared by every worker on every machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ..process.circuit_breaker import CircuitBreaker
from .base import KeystoreUnavailable

# A silent server must not hold a request for longer than this, connecting included.
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 1.5

# INCRBY and the expiry of a new counter must not come apart when a worker dies in between.
_COUNT = """
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return total
"""

P = ParamSpec("P")
R = TypeVar("R")


def _reaching(
    method: Callable[Concatenate[RedisKeystore, P], R],
) -> Callable[Concatenate[RedisKeystore, P], R]:
    @wraps(method)
    def call(self: RedisKeystore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.breaker.refuses:
            raise KeystoreUnavailable
        try:
            return method(self, *args, **kwargs)
        except redis.TimeoutError as error:
            self.breaker.suspect()
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
        """Raises ValueError or TypeError where the URL or one of its options is not valid."""
        pool = redis.ConnectionPool.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            # A server that is silent is not asked twice.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            **options,
        )
        # The pool checks its options only when it creates a connection.
        pool.connection_class(**pool.connection_kwargs)
        return cls(pool)

    @_reaching
    def get(self, key: str) -> str | None:
        return cast("str | None", self._client.get(key))

    @_reaching
    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return cast("list[str | None]", self._client.mget(keys)) if keys else []

    @_reaching
    def put(self, key: str, value: str, seconds: int) -> None:
        self._client.set(key, value, ex=max(1, seconds))

    @_reaching
    def drop(self, *keys: str) -> None:
        self._client.delete(*keys)

    @_reaching
    def take(self, key: str) -> str | None:
        return cast("str | None", self._client.getdel(key))

    @_reaching
    def add(self, key: str, value: str, seconds: int) -> bool:
        return self._client.set(key, value, ex=max(1, seconds), nx=True) is not None

    @_reaching
    def count(self, key: str, seconds: int, by: int = 1) -> int:
        return int(self._client.eval(_COUNT, 1, key, by, max(1, seconds)))

    @_reaching
    def remaining(self, key: str) -> int:
        return max(0, int(self._client.ttl(key)))

    @_reaching
    def time(self) -> float:
        """The server's clock, in seconds since 1970."""
        seconds, microseconds = self._client.time()
        return float(seconds) + float(microseconds) / 1e6

    @property
    def address(self) -> str:
        options = self._pool.connection_kwargs
        return str(options.get("path") or f"{options.get('host')}:{options.get('port', 6379)}")

    def _reach(self) -> None:
        """A sign of life on a new connection: the idle ones may be lost."""
        self._pool.disconnect(inuse_connections=False)
        self._client.ping()
