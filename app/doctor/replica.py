"""Check of the database's replica, `CORE__DATABASE_READ_URL`."""

from collections.abc import Iterator
from contextlib import suppress

from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import DBAPIError

from ..core.context import current_frontdesk
from ..core.db.base import engine_options
from ..core.doctor import Finding
from ..core.keystore import MemoryKeystore
from .databases import name_database

_CLUSTER = text("SELECT system_identifier FROM pg_control_system()")


def check_replica() -> Iterator[Finding]:
    context = current_frontdesk
    replica = context.replica
    if replica is None:
        return
    where = name_database(replica.engine.url)
    own, other = _cluster(context.db.engine.url), _cluster(replica.engine.url)
    lag = replica.lag()
    if own is not None and other is not None and own != other:
        message = (
            f"The server {where} of CORE__DATABASE_READ_URL is of another PostgreSQL cluster than"
            " the database. Set the URL of a streaming replica of the database."
        )
        yield Finding("replica", "fault", message)
    elif lag is None:
        message = (
            f"The replica {where} cannot be reached, or is not a standby, so lists are read from"
            " the primary. Check CORE__DATABASE_READ_URL, and that the replica runs."
        )
        yield Finding("replica", "fault", message)
    elif lag > replica.lag_seconds:
        message = (
            f"The replica {where} is more than CORE__DATABASE_READ_LAG ({replica.lag_seconds} s)"
            " behind the primary, so lists are read from the primary. Check that its replay is not"
            " paused or delayed, and the replication in pg_stat_replication of the primary."
        )
        yield Finding("replica", "warning", message)
    if isinstance(context.keystore, MemoryKeystore):
        message = (
            "The state store is in memory, so only one worker knows which callers have just changed"
            " data, and other workers show them old lists of the replica. Set CORE__REDIS_URL, or"
            " CORE__KEYSTORE=database."
        )
        yield Finding("replica", "warning", message)


def _cluster(url: URL) -> object:
    """Return the identifier of a server's cluster; None if it cannot be read."""
    engine = create_engine(url, **engine_options(url.render_as_string(hide_password=False), 1))
    try:
        with suppress(DBAPIError), engine.connect() as connection:
            return connection.execute(_CLUSTER).scalar_one()
        return None
    finally:
        engine.dispose()
