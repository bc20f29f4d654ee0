"""Reads of lists from a replica of the database, `CORE__DATABASE_READ_URL`.

Within `Replica.read`, the session of the services is one of the replica, which cannot write. The
replica is not read if it is away or too far behind, or if the caller has just changed data; and
what fails on the replica is read again from the primary.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from operator import attrgetter
from time import monotonic
from typing import TypeVar

from flask import Response
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, TimeoutError
from sqlalchemy.orm import ORMExecuteState, Session
from sqlalchemy.pool import ConnectionPoolEntry

from .config.settings import CoreSettings
from .db.base import engine_options
from .db.session import FollowingSession
from .db.sqlstates import READ_ONLY, is_outdated_schema, sqlstate
from .db.transaction import DEFERRED, has_committed, is_open
from .errors import NotFound
from .keystore import Keystore, KeystoreUnavailable
from .process.servers import after_fork
from .replica_lag import LagMeter, PrimaryLost, Reason, ReplicaUnusable
from .request import current_origin, unwrap_request

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
# Reasons that are states of the replica, with the log's text.
_STATES: dict[Reason, str] = {
    "lag": "The read replica is too far behind",
    "unreachable": "The read replica is unreachable",
    "promoted": "The server of CORE__DATABASE_READ_URL is not a standby",
    "schema": "The read replica lacks a migration",
}

Result = TypeVar("Result")


class WriteOnReplica(RuntimeError):
    """A defect of a route: its reads are marked for the replica, and it writes."""

    def __init__(self) -> None:
        super().__init__("A view that reads from the replica tries to write.")


class ReplicaSession(Session):
    """A session that only reads, on whatever server it is."""

    # A view that sends no query says nothing about the server.
    has_connected = False

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, autoflush=False, expire_on_commit=False)
        self.info[DEFERRED] = []

    def commit(self) -> None:
        """Refuse, for `transaction()` too, which commits first."""
        raise WriteOnReplica

    def flush(self, objects: object = None) -> None:
        if self.new or self.dirty or self.deleted:
            raise WriteOnReplica


@event.listens_for(ReplicaSession, "do_orm_execute")
def _refuse_writes(state: ORMExecuteState) -> None:
    if state.is_insert or state.is_update or state.is_delete:
        raise WriteOnReplica


_READING: ContextVar[ReplicaSession | None] = ContextVar("frontdesk_replica", default=None)


class ReplicatedSession(FollowingSession):
    """The session of the application's database object; of the replica within `Replica.read`."""

    def __init__(self, primary: FollowingSession) -> None:
        self.primary = primary
        self._sessions = _Sessions(primary)

    registry = property(attrgetter("_sessions"))
    session_factory = property(attrgetter("primary.session_factory"))
    engines = property(attrgetter("primary.engines"))
    engine_name = property(attrgetter("primary.engine_name"))


class _Sessions:
    """A session registry for SQLAlchemy's `scoped_session`."""

    def __init__(self, primary: FollowingSession) -> None:
        self._primary = primary

    def __call__(self) -> Session:
        found: Session = _READING.get() or self._primary.registry()
        return found

    def has(self) -> bool:
        return _READING.get() is not None or bool(self._primary.registry.has())

    def clear(self) -> None:
        self._primary.registry.clear()


class Replica:
    def __init__(
        self, engine: Engine, session: ReplicatedSession, keystore: Keystore, lag_seconds: int
    ) -> None:
        self.engine = engine
        self.lag_seconds = lag_seconds
        self._primary = session.primary
        self._keystore = keystore
        self._meter = LagMeter(session.primary, lag_seconds)
        # Longer than the limit, because a state store may count whole seconds.
        self._own_seconds = lag_seconds + 1
        self._state: Reason | None = None
        # While the replica is unusable, when it is tried again.
        self._retry_at = 0.0
        # After an outage of the state store: its entries of callers may be lost.
        self._all_from_primary_until = 0.0
        # Called with the reason, and without arguments.
        self.when_read_from_primary: list[Callable[[str], object]] = []
        self.when_failed_over: list[Callable[[], object]] = []
        event.listen(engine, "checkout", self._check)
        after_fork(self._reset)

    def _reset(self) -> None:
        self.engine.dispose(close=False)
        self._meter.reset()

    def _check(
        self, connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: object
    ) -> None:
        driver = self.engine.dialect.loaded_dbapi
        try:
            self._meter.check(connection, record.info, was_usable=self._state is None)
        except driver.Error as error:
            if self.engine.dialect.is_disconnect(error, connection, None):
                # After one lost connection, the idle connections are lost as well.
                self.engine.dispose()
            raise
        session = _READING.get()
        if session is not None:
            session.has_connected = True

    def read(self, view: Callable[[], Result]) -> Result:
        """Return what the view returns: with the replica's session, or else with the primary's."""
        if _READING.get() is not None:
            return view()
        reason = self._primary_reason()
        if reason is None:
            try:
                with _replica_session(self.engine) as session:
                    result = view()
            except (DBAPIError, TimeoutError, ReplicaUnusable, NotFound) as error:
                if isinstance(error, PrimaryLost):
                    raise error.error from None
                if sqlstate(error) == READ_ONLY:
                    raise WriteOnReplica from error
                reason = _reason_of(error)
                self._note(reason)
            else:
                if session.has_connected:
                    self._note_success()
                for write in session.info[DEFERRED]:
                    write()
                return result
        for listener in self.when_read_from_primary:
            listener(reason)
        return view()

    def _primary_reason(self) -> Reason | None:
        """Return why not to try the replica, or None."""
        now = monotonic()
        if self._state is not None:
            if now < self._retry_at:
                return self._state
            # This request tries the replica, and the others do not wait for it.
            self._retry_at = now + RETRY_SECONDS
        if self._primary.registry.has() and (
            is_open(self._primary) or has_committed(self._primary)
        ):
            return "recent_write"
        account_id = current_origin().account_id
        if now < self._all_from_primary_until:
            return "state_store"
        try:
            if account_id is None or self._keystore.get(_key(account_id)) is None:
                return None
        except KeystoreUnavailable:
            return "state_store"
        return "recent_write"

    def note_writer(self, response: Response) -> Response:
        """Have the caller of a request that has changed data read from the primary for a while.

        What a GET request stores, such as the time of the last use of a session, changes no list.
        """
        if unwrap_request().method in _SAFE_METHODS:
            return response
        if not self._primary.registry.has() or not has_committed(self._primary):
            return response
        account_id = current_origin().account_id
        if account_id is not None:
            try:
                self._keystore.put(_key(account_id), "1", self._own_seconds)
            except KeystoreUnavailable:
                self._all_from_primary_until = monotonic() + self._own_seconds
        return response

    def lag(self) -> float | None:
        """Return the seconds that the replica is behind; None if it cannot be read."""
        try:
            with closing(self.engine.raw_connection()) as connection:
                return self._meter.last(connection.info)
        except ReplicaUnusable as error:
            return error.lag
        except (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error):
            return None

    def _note(self, reason: Reason) -> None:
        if reason not in _STATES:
            return
        if self._state is None:
            for listener in self.when_failed_over:
                listener()
        if reason != self._state:
            log.warning("%s: lists are read from the primary", _STATES[reason])
        self._state, self._retry_at = reason, monotonic() + RETRY_SECONDS

    def _note_success(self) -> None:
        if self._state is not None:
            self._state = None
            log.warning("Lists are read from the read replica again")


@contextmanager
def _replica_session(engine: Engine) -> Iterator[ReplicaSession]:
    session = ReplicaSession(engine)
    token = _READING.set(session)
    try:
        yield session
    finally:
        _READING.reset(token)
        session.close()


def _reason_of(error: Exception) -> Reason:
    if isinstance(error, ReplicaUnusable):
        return error.reason
    if isinstance(error, NotFound):
        return "not_found"  # perhaps it was created a moment ago
    if isinstance(error, TimeoutError):
        return "busy"
    if is_outdated_schema(error):
        return "schema"
    is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return "unreachable" if is_lost or sqlstate(error) is None else "error"


def _key(account_id: object) -> str:
    return f"wrote:{account_id}"


def open_replica(
    url: str, session: ReplicatedSession, keystore: Keystore, core: CoreSettings
) -> Replica:
    from .db.postgres import prepare_postgres  # imports the driver

    engine = create_engine(url, **engine_options(url, core.DATABASE_POOL_SIZE))
    prepare_postgres(engine, core.DATABASE_PREPARED, name="read replica")
    return Replica(engine, session, keystore, core.DATABASE_READ_LAG)
