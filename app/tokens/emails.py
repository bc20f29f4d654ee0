"""The emails about personal tokens, and the task of the worker that reminds their owners."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import func, select, update

from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.db.transaction import AnySession, after_commit, transaction
from ..core.translations import mark
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from .models import PersonalToken

# The template and the topic of each email.
CREATED = "personal_token_created", mark("a personal token was created")
EXPIRES = "personal_token_expires", mark("a personal token expires soon")
# The worker's name of the task. The name of a channel has no space.
REMIND = "frontdesk token reminders"
BATCH_ROWS = 100

FIRST_REMINDER = select(func.min(PersonalToken.remind_at))


@dataclass(eq=False)
class TokenMails:
    templates: Templates
    owner_mail: OwnerMail

    def write(self, kind: tuple[str, str], to: str, name: str, expires_at: datetime) -> Email:
        (template, topic), day = kind, expires_at.date()
        return self.templates.to_account(template, to, topic, token_name=name, expires_on=day)


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
