"""More time for the few statements that write very many rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .transaction import AnySession

LONG_SECONDS = 300.0


@contextmanager
def unhurried(session: AnySession) -> Iterator[None]:
    """Our connections to PostgreSQL give a server up that says nothing for a while (postgres.py);
    a statement that writes a million rows says nothing for longer."""
    if session.get_bind().dialect.name != "postgresql":
        yield
        return
    from .postgres import patience

    with patience(session.connection(), LONG_SECONDS):
        yield
