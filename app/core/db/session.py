"""The session of the application's Flask-SQLAlchemy or Flask-SQLAlchemy-Lite object."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Protocol

from flask import g
from sqlalchemy import Engine
from sqlalchemy.orm import Session, scoped_session

# The name of the engine that Flask-SQLAlchemy-Lite uses by default.
_LITE_DEFAULT = "default"


class Database(Protocol):
    """The parts of the application's `db` that Frontdesk uses."""

    @property
    def engine(self) -> Engine: ...
    @property
    def engines(self) -> Mapping[Any, Engine]: ...
    @property
    def session(self) -> Any: ...


def is_lite(db: Database) -> bool:
    """Return whether it is a Flask-SQLAlchemy-Lite object, which has no declarative base."""
    return not hasattr(db, "metadatas")


class FollowingSession(scoped_session[Any]):
    """`db.session`, looked up at each use: an application's tests replace it.

    SQLAlchemy reads the registry at each attribute of the session, so it is no Python function.
    """

    def __init__(self, db: Database) -> None:
        self._db: Any = db

    registry: Any = property(attrgetter("_db.session.registry"))
    session_factory: Any = property(attrgetter("_db.session.session_factory"))
    # By name; within a transaction of a test, connections.
    engines: Any = property(attrgetter("_db.engines"))
    engine_name: str | None = None


class FollowingLiteSession(FollowingSession):
    """The session of Flask-SQLAlchemy-Lite, looked up at each use."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._sessions = _LiteSessions(db)

    registry = property(attrgetter("_sessions"))
    session_factory = property(attrgetter("_db.sessionmaker"))
    engine_name = _LITE_DEFAULT


def follow_session(db: Database) -> FollowingSession:
    return FollowingLiteSession(db) if is_lite(db) else FollowingSession(db)


class _LiteSessions:
    """A session registry for a database object that stores its sessions in Flask's `g`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def __call__(self) -> Session:
        session: Session = self._db.session
        return session

    def has(self) -> bool:
        return _LITE_DEFAULT in g.get("_sqlalchemy_sessions", ())

    def clear(self) -> None:
        g.get("_sqlalchemy_sessions", {}).pop(_LITE_DEFAULT, None)
