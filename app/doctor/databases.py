"""Checks of the database: connection, writes, clock and indexes."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import sqlalchemy
from flask import current_app
from sqlalchemy import Connection, Engine, func, inspect, select

from ..accounts.search import MAX_SCANNED
from ..core.context import current_frontdesk
from ..core.db.probe import check_write
from ..core.db.search_indexes import has_trigram_index
from ..core.errors import Unavailable
from .findings import Finding, name_database

# The largest difference between clocks that does not matter for tokens, codes and sessions.
CLOCK_SECONDS = 5.0


def check_database() -> Iterator[Finding]:
    engine = _engine()
    where = name_database(engine.url)
    try:
        with engine.connect() as connection:
            connection.execute(select(1))
            is_migrated = inspect(connection).has_table("frontdesk_keystore_entries")
    except Exception as error:
        text = (
            f"The database {where} cannot be reached ({_kind(error)}). Check CORE__DATABASE_URL,"
            " and that the database runs."
        )
        yield Finding("database", "fault", text)
        return
    if not is_migrated:
        return  # The check of the migrations reports the missing tables.
    try:
        check_write(engine)
    except Exception as error:
        text = (
            f"The database {where} accepts no writes ({_kind(error)}), so requests that store data"
            " fail. Check the disk space and the permissions of the database's user."
        )
        yield Finding("database", "fault", text)


def check_clock() -> Iterator[Finding]:
    """A wrong clock accepts expired tokens, or rejects new ones."""
    context = current_frontdesk
    times: dict[str, float] = {}
    engine = _engine()
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
            times["PostgreSQL"] = moment.astimezone(UTC).timestamp()
    if (time := getattr(context.keystore, "time", None)) is not None:
        with suppress(Unavailable):  # The check of the state store reports the outage.
            times["Redis"] = time()
    for name, seconds in times.items():
        ahead = context.clock.now().timestamp() - seconds
        if abs(ahead) > CLOCK_SECONDS:
            side = "ahead of" if ahead > 0 else "behind"
            text = (
                f"The clock of this machine is {abs(ahead):.0f} seconds {side} the clock of {name}."
                " Synchronize both clocks with NTP."
            )
            yield Finding("clock", "fault", text)


def check_email_index() -> Iterator[Finding]:
    """Sign-in reads `lower(email)` if the application stores email addresses in mixed case."""
    context = current_frontdesk
    model, accounts = context.tables.account_model, context.tables.accounts
    if model is None or accounts is None or context.owns_application:
        return
    engine = _engine()
    if "lower(" not in str(select(model.email).compile(engine)).lower():
        return
    with engine.connect() as connection:
        if any("lower(" in index.lower() for index in _indexes(connection, accounts.name)):
            return
    yield Finding(
        "accounts",
        "warning",
        f"The table {accounts.fullname} has no index on lower(email), so every sign-in reads the"
        f" whole table. Create the index: CREATE UNIQUE INDEX ix_{accounts.name}_lower_email ON"
        f" {accounts.fullname} (lower(email))",
    )


def check_search_index() -> Iterator[Finding]:
    """Without a trigram index, the search finds only starts among many accounts."""
    context, engine = current_frontdesk, _engine()
    model = context.tables.account_model
    if model is None or engine.dialect.name != "postgresql":
        return
    if not inspect(engine).has_table(model.__table__.name, schema=model.__table__.schema):
        return  # The check of the migrations reports the missing table.
    one_more = select(model.id).offset(MAX_SCANNED).limit(1)
    if context.session.scalar(one_more) is None or has_trigram_index(context.session, model):
        return
    yield Finding(
        "search",
        "warning",
        "The accounts have no trigram index, so a search finds only the start of a name, email"
        " address or phone number. Run `flask frontdesk index-search` as a database user who may"
        " create the extension pg_trgm and indexes.",
    )


def _indexes(connection: Connection, table: str) -> list[str]:
    """Return the SQL definitions of a table's indexes."""
    sql = "SELECT indexdef FROM pg_indexes WHERE tablename = :table"
    if connection.dialect.name == "sqlite":
        sql = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table"
    return [index for index in connection.scalars(sqlalchemy.text(sql), {"table": table}) if index]


def _engine() -> Engine:
    engine: Engine = current_app.extensions["sqlalchemy"].engine
    return engine


def _kind(error: Exception) -> str:
    return type(error.__cause__ or error).__name__
