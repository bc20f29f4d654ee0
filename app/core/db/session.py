"""The session of whichever database object a host has: Flask-SQLAlchemy's or the Lite one's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from flask import g
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session, scoped_session

# What each calls the engine that is used unless another is named.
_DEFAULT, _LITE_DEFAULT = None, "default"


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
    """`db.session`, whichever it is at the moment: a host's tests put others in its place."""

    def __init__(self, db: Database) -> None:
        self._db: Any = db
        self._lite = _LiteSessions(db) if is_lite(db) else None

    @property
    def registry(self) -> Any:  # type: ignore[override]
        return self._lite or self._db.session.registry

    @property
    def engine(self) -> Engine | Connection | None:
        """What a session would use. Inside a test's own transaction it is that connection."""
        found: Engine | Connection | None = self._db.engines.get(
            _LITE_DEFAULT if self._lite else _DEFAULT
        )
        return found

    @property
    def session_factory(self) -> Any:  # type: ignore[override]
        return self._db.sessionmaker if self._lite else self._db.session.session_factory


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
