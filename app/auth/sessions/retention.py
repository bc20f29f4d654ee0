"""Deletes sessions that ended long ago."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import or_

from ...core.clock import Clock
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession
from .models import AccountSession

# Until then an admin can look up when and why a session ended.
KEEP_DAYS = 30


def prune_sessions(session: AnySession, clock: Clock, batch: int = 5_000) -> int:
    before = clock.now() - timedelta(days=KEEP_DAYS)
    ended = or_(AccountSession.expires_at < before, AccountSession.ended_at < before)
    return delete_in_batches(session, AccountSession, ended, batch=batch)
