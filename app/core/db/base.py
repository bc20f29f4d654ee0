"""The declarative base, column types for both databases, and the configuration of engines."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import URL, DateTime, Engine, MetaData, event, literal
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect, ExceptionContext, make_url
from sqlalchemy.exc import DataError, IntegrityError
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


# Every key has a name, so that a migration can drop it on both databases. The name does not contain
# the referenced table, because an application's table of accounts can have any name.
NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}


class Base(DeclarativeBase):
    """The base of Frontdesk's models, with a separate registry: class names never clash.

    An application's metadata has copies of the tables (tables.py).
    """

    metadata = MetaData(naming_convention=NAMES)


def dialect_insert(dialect: Dialect) -> Any:
    """Return the dialect's INSERT, which has ON CONFLICT on both databases."""
    return sqlite.insert if dialect.name == "sqlite" else postgresql.insert


# Keys of a column's `info`. The search of accounts finds the names of accounts in such columns.
SEARCHED_NAME = "frontdesk_searched_name"
# Columns with an account's id have the `ondelete` of the foreign key.
ACCOUNT_KEY = "frontdesk_account"
RECEIVER_KEY = "frontdesk_receiver"


def account_key(
    *, ondelete: str | None = "CASCADE", nullable: bool = False, **options: Any
) -> MappedColumn[Any]:
    """Return a column for the id of an account in one of Frontdesk's tables.

    It is a plain column here. Its copy in an application's metadata has the type of the accounts'
    ids, and a foreign key unless `ondelete` is `None`, for rows that outlive the account.
    """
    return mapped_column(AccountIdType, info={ACCOUNT_KEY: ondelete}, nullable=nullable, **options)


def receiver_key() -> MappedColumn[Any]:
    """Return a column for the id of a recipient: an account, or another recipient of a channel."""
    return mapped_column(ReceiverId, info={RECEIVER_KEY: True}, nullable=False)


class UtcDateTime(TypeDecorator[datetime]):
    """Column type for timestamps in UTC. Values are read with their offset, on SQLite too."""

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


# SQLAlchemy's format of timestamps in SQLite, in a sixth of the time of SQLAlchemy's code.
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
    # Another program wrote the value with less or more precision.
    return _in_utc(datetime.fromisoformat(text))


def engine_options(url: str, pool_size: int) -> JsonObject:
    """Return the options of the service's engine.

    Reads run in autocommit: a BEGIN and a ROLLBACK around one SELECT are two more round trips.
    `transaction()` leaves autocommit while it is open.
    """
    # Parameters may be password hashes, and errors are logged.
    options: JsonObject = {"hide_parameters": True}
    if make_url(url).get_backend_name() != "postgresql":
        return options
    return options | {
        "isolation_level": "AUTOCOMMIT",
        "execution_options": {AUTOCOMMIT: True},
        # With the default of this option, each new connection queries the type hstore, which is
        # not used.
        "use_native_hstore": False,
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_timeout": POOL_SECONDS,
        "pool_use_lifo": True,
        # A closed session has ended its transaction; another ROLLBACK is one more round trip.
        "pool_reset_on_return": None,
        "connect_args": {
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": CONNECT_SECONDS * 1000,
            "keepalives_idle": 10,
        },
    }


def autocommit_engine(engine: Engine) -> Engine:
    """Return the engine in autocommit, which an application's engine is not by default."""
    if engine.get_execution_options().get(AUTOCOMMIT):
        return engine
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def hide_parameters(engine: Engine) -> None:
    """Keep the parameters of statements, which may be password hashes, out of errors and logs."""
    engine.hide_parameters = True
    event.listen(engine, "handle_error", _shorten)


def _shorten(context: ExceptionContext) -> None:
    """Keep the first line of a driver's error without its values: PostgreSQL's further lines are
    the whole row."""
    for error in (context.original_exception, context.sqlalchemy_exception):
        if isinstance(context.sqlalchemy_exception, (DataError, IntegrityError)) and error:
            text = str(error).partition("\n")[0]
            error.args = (text.partition(': "')[0],)


def prepare_sqlite(engine: Engine) -> None:
    """Configure SQLite for a server: WAL, foreign keys, and a timeout for waiting writers."""

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


def timestamp_literal(column: Any, value: datetime) -> object:
    """Return a literal to compare with a column; an application's column may have no offset."""
    kind = column.element.type if hasattr(column, "element") else column.type
    if isinstance(kind, DateTime) and not isinstance(kind, UtcDateTime) and not kind.timezone:
        return literal(value.astimezone(UTC).replace(tzinfo=None), DateTime())
    return literal(value, UtcDateTime())
