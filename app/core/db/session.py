"""The session of whichever database object a host has: Flask-SQLAlchemy's or the Lite one's."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Protocol

from flask import g
from sqlalchemy import Engine
from sqlalchemy.orm import Session, scoped_session

# The name of the engine that Flask-SQLAlchemy-Lite uses by default.
_LITE_DEFAULT = "default"


class Database(Protocol):
    """What Frontdesk asks of a host's `db`."""

    @property
    def engine(self) -> Engine: ...
    @property
    def engines(self) -> Mapping[Any, Engine]: ...
    @property
    def session(self) -> Any: ...


def is_lite(db: Database) -> bool:
    """Its models are of a declarative base of the host's, which it knows nothing of."""
    return not hasattr(db, "metadatas")


class FollowingSession(scoped_session[Any]):
    """`db.session`, looked up at each use: an application's tests replace it.

    SQLAlchemy reads the registry at each attribute of the session, so it is no Python function.
    """

    def __init__(self, db: Database) -> None:
        self._db: Any = db

    registry: Any = property(attrgetter("_db.session.registry"))
    session_factory: Any = property(attrgetter("_db.session.session_factory"))
    # By name; inside a test's own transaction, the connection of that.
    engines: Any = property(attrgetter("_db.engines"))
    engine_name: str | None = None


class FollowingLiteSession(FollowingSession):
    """The same for Flask-SQLAlchemy-Lite."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._sessions = _LiteSessions(db)

    registry = property(attrgetter("_sessions"))
    session_factory = property(attrgetter("_db.sessionmaker"))
    engine_name = _LITE_DEFAULT


def follow_session(db: Database) -> FollowingSession:
    return FollowingLiteSession(db) if is_lite(db) else FollowingSession(db)


class _LiteSessions:
    """The registry of a database object that keeps a context's sessions in Flask's `g`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def __call__(self) -> Session:
        session: Session = self._db.session
        return session

    def has(self) -> bool:
        return _LITE_DEFAULT in g.get("_sqlalchemy_sessions", ())

    def clear(self) -> None:
        g.get("_sqlalchemy_sessions", {}).pop(_LITE_DEFAULT, None)
