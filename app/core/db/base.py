"""Tables' common ground: the declarative base, the column types both databases agree on, and
what an engine needs before a server may use it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import URL, DateTime, Engine, MetaData, event, literal
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.orm import DeclarativeBase, MappedColumn, mapped_column
from sqlalchemy.types import TypeDecorator

from ..process.folders import private
from ..types import JsonObject
from .account_ids import MAX_ID as MAX_ID
from .account_ids import AccountIdType, ReceiverId
from .account_ids import Id as Id

if TYPE_CHECKING:
    import sqlite3

# Marks an engine with connections in autocommit mode outside `transaction()`.
AUTOCOMMIT = "frontdesk_autocommit"

CONNECT_SECONDS = 2
POOL_SECONDS = 3
BUSY_SECONDS = 4


# Every key has a name, so that a migration can drop it on either database. Whom a key refers to is
# not part of it: a host's table of accounts may have any name.
NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}


class Base(DeclarativeBase):
    """Base of Frontdesk's models: an application's classes have another registry, so names never
    clash.

    What a host's metadata has are copies of its tables (tables.py).
    """

    metadata = MetaData(naming_convention=NAMES)


def dialect_insert(dialect: Dialect) -> Any:
    """INSERT with what both databases add to it, each in its own way."""
    return sqlite.insert if dialect.name == "sqlite" else postgresql.insert


# Says of a column that it names an account, and what becomes of its row when that is deleted.
ACCOUNT_KEY = "frontdesk_account"
RECEIVER_KEY = "frontdesk_receiver"


def account_key(
    *, ondelete: str | None = "CASCADE", nullable: bool = False, **options: Any
) -> MappedColumn[Any]:
    """Return a column for the id of an account in one of Frontdesk's tables.

    Whose model accounts are is known only when an application says so, and then the copy of the
    column in its metadata has the type of their ids and refers to them; here it is a plain column.
    Without `ondelete` it stays one: what it tells is true when the account is gone, too.
    """
    return mapped_column(AccountIdType, info={ACCOUNT_KEY: ondelete}, nullable=nullable, **options)


def receiver_key() -> MappedColumn[Any]:
    """The id of whom an address book knows: an account, or what else a channel reaches."""
    return mapped_column(ReceiverId, info={RECEIVER_KEY: True}, nullable=False)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no offset, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return _from_driver(value)

    def bind_processor(self, dialect: Dialect) -> Any:
        return _to_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        if dialect.name == "sqlite":
            return _from_text
        return _from_driver


def _from_driver(value: datetime | None) -> datetime | None:
    return None if value is None else _in_utc(value)


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# As SQLAlchemy has moments in SQLite, at a sixth of what its way costs: each request reads some.
_TEXT_LENGTH = len("2030-01-01 12:00:00.000000")
_OFFSET = "+00:00"


def _to_text(value: datetime | None) -> str | None:
    if value is None:
        return None
    return value.astimezone(UTC).isoformat(" ", "microseconds")[:_TEXT_LENGTH]


def _from_text(text: str | None) -> datetime | None:
    if text is None:
        return None
    if len(text) == _TEXT_LENGTH:
        return datetime.fromisoformat(text + _OFFSET)
    # Written by others, with less of it or more.
    return _in_utc(datetime.fromisoformat(text))


def engine_options(url: str, pool_size: int) -> JsonObject:
    """What the service asks of its engine.

    Reads run in autocommit: a BEGIN and a ROLLBACK around one SELECT are two more round trips.
    `transaction()` takes the connection out of autocommit for as long as it writes.
    """
    # Parameters may be password hashes, and errors are logged.
    options: JsonObject = {"hide_parameters": True}
    if make_url(url).get_backend_name() != "postgresql":
        return options
    return options | {
        "isolation_level": "AUTOCOMMIT",
        "execution_options": {AUTOCOMMIT: True},
        # Asking for the type hstore, which is not used, costs each connection a question.
        "use_native_hstore": False,
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_timeout": POOL_SECONDS,
        "pool_use_lifo": True,
        # A session that is closed has ended its transaction; a second ROLLBACK costs a turn.
        "pool_reset_on_return": None,
        "connect_args": {
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": CONNECT_SECONDS * 1000,
            "keepalives_idle": 10,
        },
    }


def autocommit_engine(engine: Engine) -> Engine:
    """The engine with statements that commit by themselves, in a host's application as in ours."""
    if engine.get_execution_options().get(AUTOCOMMIT):
        return engine
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def prepare_sqlite(engine: Engine) -> None:
    """Configure SQLite for a server: readers run next to a writer, foreign keys, waiting
    writers."""

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()


def sqlite_path(url: URL) -> Path | None:
    """Return the database's file, or None for a database in memory."""
    name, mode = url.database or "", url.query.get("mode")
    if name.startswith("file:"):
        name = unquote(urlsplit(name).path)
    if name in ("", ":memory:") or mode == "memory":
        return None
    return Path(name).absolute()


def create_private_database(engine: Engine) -> None:
    """Create a missing SQLite file with mode 0600 before the first connection: SQLite would create
    it with the umask's mode. Its -wal and -shm files take the mode of the file itself."""
    path = sqlite_path(engine.url)
    if path is None or engine.url.query.get("mode") in ("ro", "rw"):
        return
    creating = Lock()

    @event.listens_for(engine, "do_connect")
    def create_file(*_: object) -> None:
        # Closing a file drops the locks that other connections of this process have on it.
        with creating, suppress(OSError):  # SQLite reports why the file cannot be opened.
            open(path, "xb", opener=private).close()


def timestamp_literal(column: Any, value: datetime) -> Any:
    """A moment, to be compared with a column that a host may have without an offset."""
    kind = column.element.type if hasattr(column, "element") else column.type
    if isinstance(kind, DateTime) and not isinstance(kind, UtcDateTime) and not kind.timezone:
        return literal(value.astimezone(UTC).replace(tzinfo=None), DateTime())
    return literal(value, UtcDateTime())
