"""Telling owners, once what they are told of is stored."""

from __future__ import annotations

from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...core.db.transaction import AnySession, after_commit
from ...delivery.mail.one_off import OneOffMail
from ...delivery.message import Email
from .mails import FactorMails


@dataclass(eq=False)
class FactorNotices:
    session: AnySession
    mails: FactorMails
    lane: OneOffMail

    def tell(self, email: Email) -> None:
        """Within the transaction of what it tells of."""
        after_commit(self.session, lambda: self.lane.send_soon(email))

    def guessed(self, account: AccountLike) -> None:
        """Somebody seems to know the password: told at once, as the refusal takes all else back."""
        self.lane.send_soon(self.mails.guessed(account.email))
