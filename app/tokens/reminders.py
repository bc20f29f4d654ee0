"""Emails owners before their tokens expire: a task of the worker that sends messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import func, select, update

from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.db.transaction import AnySession, after_commit, transaction
from .mails import EXPIRES, TokenMails
from .models import PersonalToken

# The worker's name of the task. The name of a channel has no space.
REMIND = "frontdesk token reminders"
BATCH_ROWS = 100

FIRST_REMINDER = select(func.min(PersonalToken.remind_at))


@dataclass(eq=False)
class Reminders:
    session: AnySession
    accounts: Accounts
    clock: Clock
    mails: TokenMails

    def send_due(self) -> None:
        while self._send_batch() == BATCH_ROWS:
            pass

    def _send_batch(self) -> int:
        """Claim reminders with one statement, so that of several workers one sends each, and send
        them after the commit. A worker that dies in between sends no reminder twice."""
        now = self.clock.now()
        due = select(PersonalToken.id).where(PersonalToken.remind_at <= now).limit(BATCH_ROWS)
        claim = (
            update(PersonalToken)
            .where(PersonalToken.id.in_(due), PersonalToken.remind_at <= now)
            .values(remind_at=None)
            .returning(
                PersonalToken.account_id,
                PersonalToken.name,
                PersonalToken.expires_at,
                PersonalToken.ended_at,
            )
        )
        with transaction(self.session) as session:
            rows = session.execute(claim, execution_options={"synchronize_session": False}).all()
            for row in rows:
                if row.ended_at is None and row.expires_at > now:
                    after_commit(session, partial(self._send, row))
        return len(rows)

    def _send(self, row: Any) -> None:
        account = self.accounts.by_id(row.account_id)
        if account is not None and self.accounts.is_active(account):
            email = self.mails.write(EXPIRES, account.email, row.name, row.expires_at)
            self.mails.owner_mail.send_soon(email)
