"""Checks of the database: connection, writes, clock, pooler and migrations."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from flask import current_app
from sqlalchemy import URL, Engine, func, inspect, make_url, select

from ..core.context import current_frontdesk
from ..core.db.probe import check_write
from ..core.db.revisions import ReplacedRevision, missing_columns, pending_migrations
from ..core.doctor import Finding
from ..core.errors import Unavailable
from ..core.process.folders import migrations_folder

# The largest difference between clocks that does not matter for tokens, codes and sessions.
CLOCK_SECONDS = 5.0
# The parts of a URL's query that say where the database is. Others can be passwords.
_PLACES = ("host", "port", "dbname")


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


def check_pooler() -> Iterator[Finding]:
    engine = _engine()
    if engine.dialect.name != "postgresql":
        return
    from ..core.db import pooler  # loads the driver

    if problem := pooler.prepared_problem(engine):
        yield Finding("pooler", "fault", f"{problem}.")
    url = current_frontdesk.settings.core.DATABASE_DIRECT_URL
    direct = make_url(url.get_secret_value()) if url else None
    if direct is not None and (hosts := pooler.unreachable_hosts(engine, direct)):
        text = (
            f"The database at {hosts} cannot be reached with CORE__DATABASE_DIRECT_URL, so"
            " migrations fail. Check the URL, and that the database runs."
        )
        yield Finding("pooler", "fault", text)
    elif pooler.shares_sessions(engine, direct):
        yield Finding("pooler", "fault", f"{pooler.TRANSACTION_MODE}.")


def check_migrations() -> Iterator[Finding]:
    context = current_frontdesk
    is_service = context.owns_application
    with _engine().connect() as connection:
        try:
            pending = pending_migrations(connection, migrations_folder(), is_service=is_service)
        except ReplacedRevision as error:
            yield Finding("migrations", "fault", str(error))
            return
        if pending:
            command = "flask db upgrade" if is_service else "flask db upgrade heads"
            text = f"Migrations are pending: {', '.join(pending)}. Run `{command}`."
            yield Finding("migrations", "fault", text)
            return
        if missing := missing_columns(connection, context.metadata, context.tables.accounts):
            # Frontdesk's migrations add no column to an application's accounts table.
            yield Finding(
                "migrations",
                "fault",
                f"The database lacks {', '.join(missing)}. Run `flask db migrate` and"
                " `flask db upgrade`, or create the columns and tables yourself.",
            )


def name_database(url: URL) -> str:
    """Return the URL without its passwords, also without those of its query."""
    places = {name: value for name, value in url.query.items() if name in _PLACES}
    return url.set(query=places).render_as_string(hide_password=True)


def _engine() -> Engine:
    engine: Engine = current_app.extensions["sqlalchemy"].engine
    return engine


def _kind(error: Exception) -> str:
    return type(error.__cause__ or error).__name__
