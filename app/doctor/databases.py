"""What the doctor finds in the database: whether it accepts writes, its clock, and its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from flask import current_app
from sqlalchemy import Connection, Engine, func, inspect, select, text

from ..core.context import current_frontdesk
from ..core.db.probe import check_write
from ..core.errors import Unavailable
from .findings import Finding

# Tokens, one-time codes and sessions are compared with times of both sides.
CLOCK_SECONDS = 5.0


def check_database() -> Iterator[Finding]:
    engine = _engine()
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            connection.execute(select(1))
            is_migrated = inspect(connection).has_table("frontdesk_keystore_entries")
    except Exception as error:
        reason = f"{where} cannot be reached ({_kind(error)}); see CORE__DATABASE_URL"
        yield Finding("database", "fault", reason)
        return
    if not is_migrated:
        return  # the check of the migrations reports it
    try:
        check_write(engine)
    except Exception as error:
        reason = f"{where} accepts no writes ({_kind(error)}): every request that stores fails"
        yield Finding("database", "fault", reason)


def check_clock() -> Iterator[Finding]:
    """A clock that is wrong accepts expired tokens, or refuses new ones."""
    context = current_frontdesk
    times: dict[str, float] = {}
    engine = _engine()
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
            times["PostgreSQL"] = moment.astimezone(UTC).timestamp()
    if (time := getattr(context.keystore, "time", None)) is not None:
        with suppress(Unavailable):  # the check of the keystore reports it
            times["Redis"] = time()
    for name, seconds in times.items():
        ahead = context.clock.now().timestamp() - seconds
        if abs(ahead) > CLOCK_SECONDS:
            side = "ahead of" if ahead > 0 else "behind"
            reason = (
                f"this machine's clock is {abs(ahead):.0f} seconds {side} {name}'s: synchronize"
                " both with NTP"
            )
            yield Finding("clock", "fault", reason)


def check_email_index() -> Iterator[Finding]:
    """An account is found by `lower(email)` where the application keeps mixed case."""
    context = current_frontdesk
    model, accounts = context.tables.account_model, context.tables.accounts
    if model is None or accounts is None or context.owns_application:
        return
    engine = _engine()
    if "lower(" not in str(select(model.email).compile(engine)).lower():
        return
    with engine.connect() as connection:
        if any("lower(" in each.lower() for each in _indexes(connection, accounts.name)):
            return
    yield Finding(
        "accounts",
        "warning",
        f"the table {accounts.fullname} has no index on lower(email), so every sign-in reads the"
        f" whole table: CREATE UNIQUE INDEX ix_{accounts.name}_lower_email ON"
        f" {accounts.fullname} (lower(email))",
    )


def _indexes(connection: Connection, table: str) -> list[str]:
    """The definitions of its indexes."""
    sql = "SELECT indexdef FROM pg_indexes WHERE tablename = :table"
    if connection.dialect.name == "sqlite":
        sql = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table"
    return [each for each in connection.scalars(text(sql), {"table": table}) if each]


def _engine() -> Engine:
    engine: Engine = current_app.extensions["sqlalchemy"].engine
    return engine


def _kind(error: Exception) -> str:
    return type(error.__cause__ or error).__name__
