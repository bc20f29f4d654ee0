"""The daily work on the partitions of the audit log, a part of `flask frontdesk prune`."""

from __future__ import annotations

import logging
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.exc import ProgrammingError

from ..direct import connect_directly
from ..postgres import statement_timeout
from ..sqlstates import sqlstate
from .layouts import upcoming_months
from .live_table import find_table
from .months import create_months, drop_months
from .names import EVENTS

log = logging.getLogger(__name__)

_NO_PERMISSION = "42501"
# The next run tries again.
_ATTEMPTS = 20


def sweep_events(engine: Engine, now: datetime, before: datetime | None) -> int:
    """Create the next partitions of a partitioned audit log, and drop those from before a moment.

    Return the number of rows in the dropped partitions.
    """
    with connect_directly(engine) as direct:
        connection = direct.execution_options(isolation_level="READ COMMITTED")
        table = find_table(connection, EVENTS)
        connection.rollback()
        if table is None or not table.is_partitioned:
            return 0
        try:
            with statement_timeout(connection, None):
                create_months(connection, table, upcoming_months(now), attempts=_ATTEMPTS)
                return 0 if before is None else drop_months(connection, table, before, _ATTEMPTS)
        except ProgrammingError as error:
            connection.rollback()
            if sqlstate(error) != _NO_PERMISSION:
                raise
            log.warning(
                "The partitions of %s belong to another database user: set"
                " CORE__DATABASE_DIRECT_URL to a URL with the user %s.",
                EVENTS,
                table.owner,
            )
            return 0
