"""Tables' common ground: the declarative base, the column types both databases agree on, and
what an engine needs before a server may use it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import (
    BigInteger,
    Connection,
    Constraint,
    DateTime,
    Engine,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    event,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.orm import DeclarativeBase, MappedColumn, Mapper, mapped_column, scoped_session
from sqlalchemy.sql.naming import conv
from sqlalchemy.types import TypeDecorator
from sqlalchemy.util import ScopedRegistry

if TYPE_CHECKING:
    import sqlite3

MAX_ID = 2**63 - 1

# SQLite numbers rows by itself only in a column declared INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")

# Marks an engine whose connections are in autocommit outside `transaction()`.
AUTOCOMMIT = "frontdesk_autocommit"

CONNECT_SECONDS = 2
POOL_SECONDS = 3
BUSY_SECONDS = 4


class Base(DeclarativeBase):
    # Without a naming convention: a host's tables are in it too, and keep the names they have.
    metadata = MetaData()


@event.listens_for(Base, "instrument_class", propagate=True)
def _name_ours(mapper: Mapper[Any], model: type[Any]) -> None:
    if _is_ours(model):
        name_constraints(cast(Table, mapper.local_table))


def insert_of(dialect: Dialect) -> Any:
    """INSERT with what both databases add to it, each in its own way."""
    return sqlite.insert if dialect.name == "sqlite" else postgresql.insert


def our_tables() -> list[Table]:
    """Those of the slices that are in use here; whether accounts are among them is the host's."""
    return [
        cast(Table, each.local_table) for each in Base.registry.mappers if _is_ours(each.class_)
    ]


def _is_ours(model: type[Any]) -> bool:
    """A host's models come of `db.Model`, which is another class with the same registry."""
    return Base in model.__bases__


def name_constraints(table: Table) -> None:
    """A name for every key, so that a migration can drop it on either database."""
    for constraint in table.constraints:
        # A `conv` is a name that came of a host's own convention.
        if constraint.name is None or isinstance(constraint.name, conv):
            name = _name_of(constraint, table.name)
            constraint.name = constraint.name if name is None else conv(name)


def _name_of(constraint: Constraint, table: str) -> str | None:
    match constraint:
        case PrimaryKeyConstraint():
            return f"pk_{table}"
        case ForeignKeyConstraint():
            referred = constraint.elements[0].target_fullname.partition(".")[0]
            return f"fk_{table}_{'_'.join(constraint.column_keys)}_{referred}"
        case UniqueConstraint():
            return f"uq_{table}_{'_'.join(constraint.columns.keys())}"
    return None


_OF_AN_ACCOUNT = "frontdesk_account"


def account_key(*, ondelete: str = "CASCADE", **options: Any) -> MappedColumn[Any]:
    """The id of an account in a table of ours.

    Whose model accounts are is known only when an application says so (`refer_to_accounts`), and
    one that mounts nothing with accounts may have none: until then it is a plain column.
    """
    return mapped_column(Id, info={_OF_AN_ACCOUNT: ondelete}, **options)


def refer_to_accounts(accounts: Table) -> None:
    """Make the columns that name accounts foreign keys to this table."""
    for table in Base.metadata.tables.values():
        for column in table.columns:
            ondelete = column.info.get(_OF_AN_ACCOUNT)
            if ondelete and not column.foreign_keys:
                column.append_foreign_key(ForeignKey(accounts.c.id, ondelete=ondelete))
                name_constraints(table)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no offset, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FollowingSession(scoped_session[Any]):
    """`db.session`, whichever it is at the moment: a host's tests put others in its place."""

    def __init__(self, db: SQLAlchemy) -> None:
        self._db = db

    @property
    def registry(self) -> ScopedRegistry[Any]:  # type: ignore[override]
        return self._db.session.registry

    @property
    def engine(self) -> Engine | Connection | None:
        """What a session would use. Inside a test's own transaction it is that connection."""
        return self._db.engines.get(None)

    @property
    def session_factory(self) -> Any:  # type: ignore[override]
        return self._db.session.session_factory


def engine_options(url: str, pool_size: int) -> dict[str, Any]:
    """What the service asks of its engine.

    Reads run in autocommit: a BEGIN and a ROLLBACK around one SELECT are two more round trips.
    `transaction()` takes the connection out of autocommit for as long as it writes.
    """
    # What is bound to a statement may be a password's hash, and errors are logged.
    options: dict[str, Any] = {"hide_parameters": True}
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
            "options": "-c timezone=UTC",
        },
    }


def prepare_sqlite(engine: Engine) -> None:
    """SQLite as a server needs it: readers beside a writer, foreign keys, writers that wait."""

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()
