from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ...core.clock import Clock
from ...core.db.races import lock_row
from ...core.db.transaction import AnySession
from ..sign_in.proof import has_factor, methods, written
from .models import AMR_LENGTH, AccountSession


@dataclass(eq=False)
class Renewal:
    """A session whose owner has shown once more who they are. It goes on as the same one."""

    session: AnySession
    clock: Clock
    token_life: timedelta
    # However often it is renewed, it ends after so long.
    longest: timedelta

    def renew(self, row_id: Any, by: tuple[str, ...]) -> AccountSession | None:
        """Within the transaction of the deed; None where it has ended in this moment."""
        lock_row(self.session, AccountSession, AccountSession.id == row_id)
        found = self.session.get(AccountSession, row_id, populate_existing=True)
        if found is None or found.ended_at is not None:
            return None
        now = self.clock.now()
        found.authenticated_at = now
        if has_factor(by):
            found.factor_at = now
        found.amr = written([*found.amr.split(), *methods(by)], AMR_LENGTH)
        # One that its token alone goes on with lives as long as the next token.
        found.expires_at = max(
            found.expires_at, min(now + self.token_life, found.created_at + self.longest)
        )
        self.session.flush()
        return found
