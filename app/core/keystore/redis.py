"""The keystore in Redis, shared by every worker on every machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ..process.breaker import Breaker
from .base import KeystoreUnavailable
from .lines import Lines

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
        self._lines = Lines(pool)
        self.breaker = Breaker("keystore", self._reach)

    @classmethod
    def from_url(cls, url: str, **options: Any) -> RedisKeystore:
        return cls(
            redis.ConnectionPool.from_url(
                url,
                decode_responses=True,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=ANSWER_SECONDS,
                # A server that is silent is not asked twice.
                retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
                **options,
            )
        )

    @_reaching
    def get(self, key: str) -> str | None:
        return cast("str | None", self._lines.ask("GET", key))

    @_reaching
    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return cast("list[str | None]", self._lines.ask("MGET", *keys)) if keys else []

    @_reaching
    def put(self, key: str, value: str, seconds: int) -> None:
        self._lines.ask("SET", key, value, "EX", max(1, seconds))

    @_reaching
    def drop(self, *keys: str) -> None:
        self._lines.ask("DEL", *keys)

    @_reaching
    def take(self, key: str) -> str | None:
        return cast("str | None", self._lines.ask("GETDEL", key))

    @_reaching
    def add(self, key: str, value: str, seconds: int) -> bool:
        return self._lines.ask("SET", key, value, "EX", max(1, seconds), "NX") is not None

    @_reaching
    def count(self, key: str, seconds: int, by: int = 1) -> int:
        return int(self._lines.ask("EVAL", _COUNT, 1, key, by, max(1, seconds)))

    @_reaching
    def remaining(self, key: str) -> int:
        return max(0, int(self._lines.ask("TTL", key)))

    @_reaching
    def ping(self) -> None:
        self._lines.ask("PING")

    def _reach(self) -> None:
        """A sign of life on a connection of its own: those that lie idle may be lost ones."""
        line = self._lines.open()
        try:
            line.connect()
            line.send_command("PING")
            line.read_response()
        finally:
            line.disconnect()
