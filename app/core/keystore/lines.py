"""Connections to Redis, asked without the client around them.

For a command the client's own way is several times as long as the command's: it times, counts and
dispatches for observers that nobody has here, and asks a connection whether it is still one before
it uses it. Every request with a token asks Redis, so it was a fifth of what an account read costs.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import redis

from ..process.forking import after_fork


class Lines:
    """As many connections as threads ask at once; who has asked leaves its own to the next."""

    def __init__(self, pool: redis.ConnectionPool) -> None:
        # It knows what a URL says of connections; none is ever taken out of it.
        self._pool = pool
        self._forget()
        after_fork(self._forget)

    def _forget(self) -> None:
        # The last one that was used is the first to be used again; threads need no lock for that.
        self._idle: deque[Any] = deque()

    def ask(self, *command: str | int) -> Any:
        """The answer. A connection that the server has dropped is made up for by one new try."""
        try:
            return self._ask(command)
        except redis.ConnectionError:
            # Where one is lost, those that lie idle are too.
            self._idle.clear()
            return self._ask(command)

    def _ask(self, command: tuple[str | int, ...]) -> Any:
        try:
            line = self._idle.pop()
        except IndexError:
            line = self.open()
        try:
            line.send_command(*command)
            answer = line.read_response()
        except redis.ResponseError:
            self._idle.append(line)  # refused, but answered
            raise
        except BaseException:
            # The answer may come yet, and is nobody else's.
            line.disconnect()
            raise
        self._idle.append(line)
        return answer

    def open(self) -> Any:
        """A new connection, which connects when it is first used."""
        return self._pool.connection_class(**self._pool.connection_kwargs)
