"""Copies the rows of a used table in short transactions, and can resume after an interruption.

Triggers note the keys of changed rows. A noted row is copied again as it is then, so the order of
the copy and of the changes does not matter, and the application never waits for the copy. Nothing
is noted from before the triggers: creating them waits for the transactions that write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from ...errors import SetupError
from ..short_locks import repeat_until_locked
from ..sqlstates import sqlstate
from .copy_table import add_keys, check_obstacles, check_same, create_copy, swap
from .layouts import Layout
from .live_table import LiveTable, find_table, find_work_table
from .names import execute, quoted, work_tables
from .notes import check_notes, create_notes, drop_notes, find_notes

BATCH_ROWS = 5_000
# The most noted changes that are copied while the table is locked.
MAX_LOCKED = 500
_FOREIGN_KEY_VIOLATION = "23503"
_MAX_REPEATS = 100


class _Behind(Exception):
    """There are too many noted changes to copy them while the table is locked."""


@dataclass
class OnlineCopy:
    connection: Connection
    table: LiveTable
    layout: Layout
    batch: int = BATCH_ROWS

    def __post_init__(self) -> None:
        names = work_tables(self.table.name)
        self._copy = self.table.next_to(names.copy)
        self._changes = self.table.next_to(names.changes)
        self._progress = self.table.next_to(names.progress)
        # A temporary table: the noted keys of a batch.
        self._taken = quoted(f"{self.table.name}_taken")
        self._key = ", ".join(map(quoted, self.layout.key))

    def begin(self) -> None:
        """Create the copy and the triggers, or check those of an earlier run."""
        copy = find_work_table(self.connection, self._copy)
        has_notes = find_notes(self.connection, self.table)
        self.connection.commit()
        if copy is None:
            if has_notes:
                raise SetupError(
                    f"The copy of {self.table.name} was dropped. Run the command with --abort, and"
                    " then again."
                )
            self._repeat(self._create)
            return
        check_same(self.table, copy)
        check_notes(self.connection, self.table)
        count = text("SELECT count(*) FROM pg_inherits WHERE inhparent = :oid")
        parts = self.connection.scalar(count, {"oid": copy.oid})
        self.connection.commit()
        if self.layout.parts not in (None, parts):
            raise SetupError(
                f"The copy of {self.table.name} was begun with {parts} parts. Run the command with"
                f" --parts {parts} to continue, or with --abort to begin again."
            )

    def _create(self) -> None:
        add_keys(
            self.connection,
            self.table,
            create_copy(self.connection, self.table, self.layout),
            self.layout,
        )
        create_notes(self.connection, self.table, self._key)
        self.connection.commit()

    def remaining(self) -> int:
        """Return the number of ids that are not copied yet."""
        remaining = text(f"SELECT last_id - position FROM {self._progress}")
        found: int = self.connection.execute(remaining).scalar_one()
        self.connection.commit()
        return found

    def copy_rows(self, advance: Callable[[int], object]) -> None:
        self._run(
            f"CREATE TEMP TABLE IF NOT EXISTS {self._taken} AS"
            f" SELECT {self._key} FROM {self.table.sql} WITH NO DATA"
        )
        self.connection.commit()
        remaining = self.remaining()
        while remaining > 0:
            self._repeat(self._copy_batch)
            before, remaining = remaining, self.remaining()
            advance(before - remaining)
            self._repeat(self._copy_changes)

    def _copy_batch(self) -> None:
        columns = self.table.column_list
        self._set("jit = off")
        last = self.connection.scalar(
            text(
                f"WITH batch AS MATERIALIZED (SELECT {columns} FROM {self.table.sql} WHERE"
                f" id > (SELECT position FROM {self._progress})"
                f" AND id <= (SELECT last_id FROM {self._progress})"
                " ORDER BY id LIMIT :rows),"
                # A row that is there already was changed, and copied for its note.
                f" stored AS (INSERT INTO {self._copy} ({columns}) SELECT {columns} FROM batch"
                " ON CONFLICT DO NOTHING)"
                " SELECT max(id) FROM batch"
            ),
            {"rows": self.batch},
        )
        advance = text(f"UPDATE {self._progress} SET position = coalesce(:last, last_id)")
        self.connection.execute(advance, {"last": last})
        self.connection.commit()

    def catch_up(self) -> None:
        """Copy the noted changes until few are left."""
        while self._waiting(MAX_LOCKED):
            self._repeat(self._copy_changes)

    def _waiting(self, limit: int) -> bool:
        """Return whether more changes are noted than the limit."""
        more = text(f"SELECT 1 FROM {self._changes} OFFSET :limit LIMIT 1")
        found = self.connection.scalar(more, {"limit": limit}) is not None
        self.connection.commit()
        return found

    def _copy_changes(self) -> None:
        self._copy_noted()
        self.connection.commit()

    def _copy_noted(self) -> int:
        """Copy the rows of the oldest notes again; return how many there were."""
        # Few keys are looked up in a large table.
        for setting in ("jit", "enable_hashjoin", "enable_mergejoin", "enable_seqscan"):
            self._set(f"{setting} = off")
        columns = ", ".join(f"live.{quoted(name)}" for name, *_ in self.table.columns)
        same = " AND ".join(f"copied.{name} = taken.{name}" for name in self._quoted_key())
        join = f"{self.table.sql} AS live JOIN {self._taken} AS taken USING ({self._key})"
        key = ", ".join(f"taken.{name}" for name in self._quoted_key())
        run = self._run
        run(f"DELETE FROM {self._taken}")
        taken = self.connection.execute(
            text(
                f"WITH oldest AS (SELECT max(n) AS n FROM"
                f" (SELECT n FROM {self._changes} ORDER BY n LIMIT :rows) AS first),"
                f" removed AS (DELETE FROM {self._changes} USING oldest"
                f" WHERE {self._changes}.n <= oldest.n RETURNING {self._key})"
                f" INSERT INTO {self._taken} SELECT DISTINCT {self._key} FROM removed"
            ),
            {"rows": self.batch},
        ).rowcount
        if taken:
            run(f"DELETE FROM {self._copy} AS copied USING {self._taken} AS taken WHERE {same}")
            run(
                f"INSERT INTO {self._copy} ({self.table.column_list})"
                f" SELECT {columns} FROM {join} ON CONFLICT DO NOTHING"
            )
            # Another row has its unique values until that row's note is copied.
            run(
                f"INSERT INTO {self._changes} ({self._key}) SELECT {key} FROM {join}"
                f" WHERE NOT EXISTS (SELECT FROM {self._copy} AS copied WHERE {same})"
            )
        return taken

    def finish(self) -> None:
        """Lock the table, copy the last changes, and give the copy its name."""
        while True:
            self.catch_up()
            try:
                self._repeat(self._swap)
            except _Behind:
                self.connection.rollback()
            else:
                return

    def _swap(self) -> None:
        run = self._run
        run(f"LOCK TABLE {self.table.sql}, {self._copy} IN ACCESS EXCLUSIVE MODE")
        table, copy = (find_table(self.connection, name) for name in (self.table.sql, self._copy))
        if table is None or copy is None:
            raise SetupError(f"The table {self.table.name} or its copy was dropped.")
        check_obstacles(self.connection, table, self.layout)
        check_same(table, copy)
        check_notes(self.connection, table)
        more = text(f"SELECT 1 FROM {self._changes} OFFSET :limit LIMIT 1")
        if self.connection.scalar(more, {"limit": MAX_LOCKED}) is not None:
            raise _Behind
        while self._copy_noted():
            pass
        drop_notes(self.connection, self.table)
        swap(self.connection, table, copy)
        self.connection.commit()

    def abort(self) -> None:
        """Remove the triggers, the copy and its partitions."""
        self._repeat(self._remove)

    def _remove(self) -> None:
        find_work_table(self.connection, self._copy)
        drop_notes(self.connection, self.table)
        self._run(f"DROP TABLE IF EXISTS {self._copy}")
        self.connection.commit()

    def _quoted_key(self) -> list[str]:
        return [quoted(name) for name in self.layout.key]

    def _run(self, sql: str) -> None:
        execute(self.connection, sql)

    def _set(self, setting: str) -> None:
        self._run(f"SET LOCAL {setting}")

    def _repeat(self, change: Callable[[], object]) -> None:
        """Repeat a transaction that does not get a lock, or a row whose account or notification was
        deleted after the row was read."""
        for attempt in range(1, _MAX_REPEATS + 1):
            try:
                repeat_until_locked(self.connection, change)
                return
            except IntegrityError as error:
                self.connection.rollback()
                if sqlstate(error) != _FOREIGN_KEY_VIOLATION or attempt == _MAX_REPEATS:
                    raise
