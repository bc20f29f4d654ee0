"""The state store in SQL: several workers on one machine share it without another server.

Each call is a separate transaction on a separate connection: a counted failure stays counted if the
request is rolled back. On PostgreSQL the entries are in the application's database, and with SQLite
in a separate file next to it (state_file.py).
"""

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    Engine,
    Executable,
    Insert,
    String,
    Table,
    Text,
    case,
    delete,
    inspect,
    select,
)
from sqlalchemy import cast as as_sql
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from ..clock import Clock
from ..db.base import Base, UtcDateTime, dialect_insert
from ..request import note_effect
from ..types import JsonObject
from .base import KeystoreUnavailable
from .state_file import StateEngine


class KeystoreEntry(Base):
    __tablename__ = "frontdesk_keystore_entries"

    key: Mapped[str] = mapped_column(String(512), primary_key=True)
    value: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class DatabaseKeystore:
    def __init__(self, engine: Callable[[], Engine], clock: Clock) -> None:
        self._engine = StateEngine(engine, cast(Table, KeystoreEntry.__table__))
        self._clock = clock

    def path(self) -> Path | None:
        """Return the file of the entries, or None if they are in the database or memory."""
        return self._engine.path()

    def get(self, key: str) -> str | None:
        valid = select(KeystoreEntry.value).where(
            KeystoreEntry.key == key, KeystoreEntry.expires_at > self._clock.now()
        )
        value: str | None = self._run(valid).scalar_one_or_none()
        return value

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        valid = select(KeystoreEntry.key, KeystoreEntry.value).where(
            KeystoreEntry.key.in_(keys), KeystoreEntry.expires_at > self._clock.now()
        )
        found: dict[str, str] = dict(self._run(valid).all())
        return [found.get(key) for key in keys]

    def put(self, key: str, value: str, seconds: int) -> None:
        self._run(self._upsert(key, value, seconds, {"value": value}, replace=True))

    def drop(self, *keys: str) -> None:
        self._run(delete(KeystoreEntry).where(KeystoreEntry.key.in_(keys)))

    def take(self, key: str) -> str | None:
        note_effect()
        row = self._run(
            delete(KeystoreEntry)
            .where(KeystoreEntry.key == key)
            .returning(KeystoreEntry.value, KeystoreEntry.expires_at)
        ).one_or_none()
        return row.value if row and row.expires_at > self._clock.now() else None

    def add(self, key: str, value: str, seconds: int) -> bool:
        note_effect()
        statement = self._upsert(key, value, seconds, {"value": value}, replace=False)
        return self._run(statement).scalar_one_or_none() is not None

    def count(self, key: str, seconds: int, by: int = 1) -> int:
        is_valid = KeystoreEntry.expires_at > self._clock.now()
        total = as_sql(as_sql(KeystoreEntry.value, BigInteger) + by, Text)
        changes = {
            "value": case((is_valid, total), else_=str(by)),
            "expires_at": case((is_valid, KeystoreEntry.expires_at), else_=self._until(seconds)),
        }
        counted = self._upsert(key, str(by), seconds, changes, replace=True)
        return int(self._run(counted).scalar_one())

    def remaining(self, key: str) -> int:
        until = self._run(
            select(KeystoreEntry.expires_at).where(KeystoreEntry.key == key)
        ).scalar_one_or_none()
        return max(0, math.ceil((until - self._clock.now()).total_seconds())) if until else 0

    def prune(self, limit: int) -> int:
        """Delete at most so many expired entries, so that locks are short; return the count.

        Entries that earlier versions stored in the SQLite database itself are deleted too.
        """
        expired = (
            select(KeystoreEntry.key)
            .where(KeystoreEntry.expires_at <= self._clock.now())
            .limit(limit)
        )
        entries = (
            delete(KeystoreEntry).where(KeystoreEntry.key.in_(expired)).returning(KeystoreEntry.key)
        )
        deleted = len(self._run(entries).all())
        return deleted + self._prune_database(entries)

    def _prune_database(self, entries: Executable) -> int:
        database = self._engine.database()
        if database is self._engine() or not inspect(database).has_table(
            KeystoreEntry.__tablename__
        ):
            return 0
        return len(self._run(entries, database).all())

    def _until(self, seconds: int) -> datetime:
        return self._clock.now() + timedelta(seconds=seconds)

    def _upsert(
        self, key: str, value: str, seconds: int, changes: JsonObject, *, replace: bool
    ) -> Insert:
        """Return an upsert; an expired entry is always replaced."""
        insert = dialect_insert(self._engine().dialect)
        until = self._until(seconds)
        statement: Insert = (
            insert(KeystoreEntry)
            .values(key=key, value=value, expires_at=until)
            .on_conflict_do_update(
                index_elements=[KeystoreEntry.key],
                set_={"expires_at": until, **changes},
                where=None if replace else KeystoreEntry.expires_at <= self._clock.now(),
            )
            .returning(KeystoreEntry.value)
        )
        return statement

    def _run(self, statement: Any, engine: Engine | None = None) -> Any:
        try:
            with (engine or self._engine()).begin() as connection:
                result = connection.execute(statement)
                return result.freeze()() if result.returns_rows else result
        # OSError: the state file cannot be created.
        except (OperationalError, InterfaceError, PoolTimeout, OSError) as error:
            raise KeystoreUnavailable from error
