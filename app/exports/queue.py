"""What workers do with the rows: each taken by one, kept while it is worked on, free again when the
worker dies."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, select, update

from ..core.clock import Clock
from ..core.db.base import autocommitting
from ..delivery.outbox.batches import LEASE
from .models import FAILED, PENDING, READY, AccountExport


class ClaimedExport(NamedTuple):
    id: int
    account_id: Any
    attempts: int
    # Names the worker that has it.
    claim: str


@dataclass(eq=False)
class ExportQueue:
    engine: Engine
    clock: Clock
    keep: timedelta

    def seconds_until_due(self) -> float | None:
        first = select(func.min(AccountExport.due_at)).where(AccountExport.state == PENDING)
        with autocommitting(self.engine).connect() as connection:
            due = connection.execute(first).scalar()
        return None if due is None else (due - self.clock.now()).total_seconds()

    def claim(self) -> ClaimedExport | None:
        now, claim = self.clock.now(), secrets.token_hex(16)
        due = (
            select(AccountExport.id)
            .where(AccountExport.state == PENDING, AccountExport.due_at <= now)
            .order_by(AccountExport.due_at)
            .limit(1)
        )
        if self.engine.dialect.name == "postgresql":
            due = due.with_for_update(skip_locked=True)
        # SQLite has one writer: there the statement by itself is the lock.
        chosen = due.cte("chosen")
        taken = (
            update(AccountExport)
            .where(AccountExport.id.in_(select(chosen.c.id)))
            .values(claim=claim, due_at=now + LEASE, attempts=AccountExport.attempts + 1)
            .returning(AccountExport.id, AccountExport.account_id, AccountExport.attempts)
        )
        with autocommitting(self.engine).connect() as connection:
            row = connection.execute(taken).one_or_none()
        if row is None:
            return None
        return ClaimedExport(row.id, row.account_id, row.attempts, claim)

    def renew(self, export: ClaimedExport) -> None:
        self._set(export, {"due_at": self.clock.now() + LEASE})

    def finish(self, export: ClaimedExport, file: str, size: int) -> bool:
        """Whether it was still ours: the account, or the claim, may be gone."""
        expires_at = self.clock.now() + self.keep
        values = {"state": READY, "file": file, "size": size, "expires_at": expires_at}
        return self._set(export, values)

    def postpone(self, export: ClaimedExport, seconds: float) -> None:
        """Try it again later; the attempt counts."""
        self._set(export, {"due_at": self.clock.now() + timedelta(seconds=seconds)})

    def give_back(self, export: ClaimedExport) -> None:
        """It was not tried to its end, and somebody else may begin at once."""
        self._set(export, {"due_at": self.clock.now(), "attempts": AccountExport.attempts - 1})

    def fail(self, export: ClaimedExport) -> None:
        self._set(export, {"state": FAILED})

    def _set(self, export: ClaimedExport, values: Mapping[str, Any]) -> bool:
        mine = (
            update(AccountExport)
            .where(
                AccountExport.id == export.id,
                AccountExport.claim == export.claim,
                AccountExport.state == PENDING,
            )
            .values(**values)
        )
        with autocommitting(self.engine).connect() as connection:
            return connection.execute(mine).rowcount == 1
