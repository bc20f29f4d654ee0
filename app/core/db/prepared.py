"""Whether the connections of an engine prepare statements.

A pooler such as PgBouncer in transaction mode gives a client's statements to connections that other
clients use too: a statement that was prepared under a name is missing there, or is the one of
another client, whose result is returned without an error.
"""

from __future__ import annotations

import logging
from threading import Lock
from typing import Literal, Protocol
from weakref import WeakSet

log = logging.getLogger(__name__)

PreparedMode = Literal["auto", "on", "off"]


class _Connection(Protocol):
    prepare_threshold: int | None


class PreparedStatements:
    def __init__(self, mode: PreparedMode) -> None:
        self._mode = mode
        self._is_off = mode == "off"
        self._connections: WeakSet[_Connection] = WeakSet()
        self._lock = Lock()

    def add(self, connection: _Connection, *, is_pooled: bool) -> None:
        """Add a new connection, before any statement is prepared on it."""
        if is_pooled and self._mode == "auto":
            self.switch_off("The database is reached through a connection pooler")
        with self._lock:
            self._connections.add(connection)
            if self._is_off:
                connection.prepare_threshold = None

    def restore(self, connection: _Connection, threshold: int | None) -> None:
        """Set the threshold that a connection had, unless preparing has been switched off."""
        with self._lock:
            connection.prepare_threshold = None if self._is_off else threshold

    def switch_off(self, reason: str) -> None:
        """Prepare no more statements in this process, and use none that are prepared."""
        with self._lock:
            if self._is_off:
                return
            self._is_off = True
            for connection in self._connections:
                connection.prepare_threshold = None
        log.warning(
            "%s: this process prepares no statements. Set CORE__DATABASE_PREPARED=off, or see"
            " docs/scale.md for a pooler that supports prepared statements.",
            reason,
        )
