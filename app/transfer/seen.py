"""Which addresses and ids a file has had already: on disk, since there may be millions."""

from __future__ import annotations

import sqlite3
from types import TracebackType


class Seen:
    def __init__(self) -> None:
        # Without a name SQLite keeps it in a file of its own, which goes with the connection.
        self._connection = sqlite3.connect("")
        self._connection.execute("CREATE TABLE seen (name TEXT PRIMARY KEY, line INTEGER)")

    def __enter__(self) -> Seen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._connection.close()

    def first_line(self, name: str, line: int) -> int:
        """Where it was first; this very line, where it is new."""
        add = "INSERT INTO seen VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
        if self._connection.execute(add, (name, line)).rowcount:
            return line
        find = "SELECT line FROM seen WHERE name = ?"
        return int(self._connection.execute(find, (name,)).fetchone()[0])
