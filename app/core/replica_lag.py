"""How far a read replica is behind its primary.

The position of the primary in its log (WAL) is read once a second. A replica that has replayed the
log up to a position has all data of the time when the position was read. If the replica has not
replayed that far, the time of the last transaction that it has replayed decides, by the clock of
the primary. So an idle primary is no lag, a replica without a connection to its primary is, and
clocks of servers that differ change nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from math import inf
from threading import Lock
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple

from sqlalchemy import literal_column, select
from sqlalchemy.exc import DBAPIError

from .db.rows import Rows
from .db.transaction import AnySession, has_begun

CHECK_SECONDS = 1.0
# The lag counts from the last change that was replayed. So after a quiet time, a replica that is a
# moment late seems far behind, and is asked again.
PAUSES_SECONDS = (0.05, 0.1, 0.2)
POSITIONS = 8

Reason = Literal[
    "recent_write",
    "lag",
    "unreachable",
    "promoted",
    "schema",
    "busy",
    "error",
    "not_found",
    "state_store",
]

# The end of the log that is written. The end of the log that is reserved can be a page header
# further, which no replica replays while nothing is written.
_COLUMNS: Sequence[Any] = (
    literal_column("CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bigint)"),
    literal_column("CAST(extract(epoch FROM clock_timestamp()) AS float8)"),
)
_PRIMARY = Rows(select(*_COLUMNS))
_REPLICA = (
    "SELECT pg_is_in_recovery(),"
    " CAST(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') AS bigint),"
    " CAST(extract(epoch FROM pg_last_xact_replay_timestamp()) AS float8)"
)
_CHECKED = "frontdesk_replica_checked"


# What SQLAlchemy's pool stores with a connection.
_ConnectionInfo = MutableMapping[str, Any]


class ReplicaUnusable(Exception):
    """The server may not be read instead of the primary."""

    def __init__(self, reason: Reason, lag: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lag = lag


class PrimaryLost(ReplicaUnusable):
    """The request's connection to the primary was lost, so the request cannot continue there."""

    def __init__(self, error: DBAPIError) -> None:
        super().__init__("error")
        self.error = error


class _Position(NamedTuple):
    """The end of the primary's log at a time of this process."""

    at: float
    lsn: int
    # The primary's clock.
    clock: float


@dataclass
class _Checked:
    at: float
    # The replica has all data of this time.
    fresh_at: float
    lag: float


class LagMeter:
    def __init__(self, primary: AnySession, limit: float) -> None:
        self._primary = primary
        self._limit = limit
        self._valid_seconds = min(CHECK_SECONDS, limit / 4)
        self._positions: deque[_Position] = deque(maxlen=POSITIONS)
        self.reset()

    def reset(self) -> None:
        """Forget the lock of the parent, in a forked process."""
        self._lock = Lock()

    def check(self, connection: object, known: _ConnectionInfo, was_usable: bool) -> None:
        """Raise ReplicaUnusable unless the connection is to a standby within the limit.

        The server of a connection is asked once a second: behind one name there can be several
        servers. `known` are values that are stored with the connection. A server that was not
        usable before is asked again only once, so that requests do not wait long for it.
        """
        found: _Checked | None = known.get(_CHECKED)
        now = monotonic()
        if (
            found is not None
            and now - found.at < self._valid_seconds
            and now - found.fresh_at <= self._limit
        ):
            return
        found = self._ask(connection)
        for pause in PAUSES_SECONDS if was_usable else PAUSES_SECONDS[:1]:
            if found.lag <= self._limit:
                break
            sleep(pause)
            found = self._ask(connection)
        if found.lag > self._limit:
            raise ReplicaUnusable("lag", found.lag)
        known[_CHECKED] = found

    def last(self, known: _ConnectionInfo) -> float:
        """Return the lag in seconds that `check` has found for a connection."""
        found: _Checked = known[_CHECKED]
        return found.lag

    def _ask(self, connection: Any) -> _Checked:
        newest = self._position()
        is_standby, replayed, committed_at = connection.execute(_REPLICA).fetchone()
        if not is_standby or replayed is None:
            raise ReplicaUnusable("promoted")
        now = monotonic()
        if replayed >= newest.lsn:
            return _Checked(now, newest.at, 0.0)
        fresh = [each.at for each in tuple(self._positions) if each.lsn <= replayed]
        if committed_at is not None:
            fresh.append(newest.at - (newest.clock - committed_at))
        fresh_at = max(fresh, default=-inf)
        return _Checked(now, fresh_at, max(0.0, now - fresh_at))

    def _position(self) -> _Position:
        now = monotonic()
        newest = self._positions[-1] if self._positions else None
        if newest is not None and now - newest.at < self._valid_seconds:
            return newest
        is_old = newest is None or now - newest.at > self._limit / 2
        # An older position is valid too: no request waits for the query of another.
        if not self._lock.acquire(blocking=is_old):
            assert newest is not None
            return newest
        try:
            return self._read_position(now)
        finally:
            self._lock.release()

    def _read_position(self, asked_at: float) -> _Position:
        newest = self._positions[-1] if self._positions else None
        if newest is not None and newest.at >= asked_at:
            return newest  # another request has read it in the meantime
        at = monotonic()
        try:
            [lsn, clock] = _PRIMARY.read(self._primary)[0]
        except DBAPIError as error:
            if error.connection_invalidated and has_begun(self._primary):
                raise PrimaryLost(error) from error
            # Not an error of the replica. The request reads from the primary, and reports it.
            raise ReplicaUnusable("error") from error
        if newest is not None and lsn < newest.lsn:
            self._positions.clear()  # a promoted server, which lacks the end of the former log
        position = _Position(at, lsn, clock)
        self._positions.append(position)
        return position
