"""Authenticator apps: their secrets, and the codes that they show."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import or_, select, update

from ...accounts.models import AccountLike
from ...core.clock import Clock
from ...core.db.account_ids import shown
from ...core.db.transaction import AnySession, write_last
from ..sign_in.proof import TOTP
from . import totp
from .errors import SecretUnreadable, WrongFactor
from .models import TOTP_KIND, Authenticator
from .sealing import Sealing, Unopenable

log = logging.getLogger(__name__)


class UsedStep(NamedTuple):
    authenticator_id: int
    step: int
    at: datetime


@dataclass(eq=False)
class AuthenticatorApps:
    session: AnySession
    sealing: Sealing
    clock: Clock

    def check(self, account: AccountLike, code: Any) -> str | None:
        """One of the account's apps shows this code now, and nobody has used it."""
        unreadable = False
        for row in self._of(account.id):
            try:
                secret = self.open(row.secret, account.id, row.id)
            except SecretUnreadable:
                unreadable = True
                continue
            step = totp.step_of(secret, str(code), self.clock.now())
            if step is not None and (row.last_step is None or row.last_step < step):
                write_last(self.session, use_steps, UsedStep(row.id, step, self.clock.now()))
                return TOTP
        if unreadable:
            raise SecretUnreadable
        return None

    def seal(self, secret: bytes, account_id: Any, authenticator_id: int) -> str:
        return self.sealing.seal(secret, _row(account_id, authenticator_id))

    def open(self, sealed: str | None, account_id: Any, authenticator_id: int) -> bytes:
        try:
            return self.sealing.open(sealed or "", _row(account_id, authenticator_id))
        except Unopenable as error:
            log.error(
                "The secret of authenticator %s cannot be decrypted: %s. See AUTH.ENCRYPTION_KEYS"
                " and, where those are not set, SECRET_KEY and CORE.SECRET_KEY_FALLBACKS",
                authenticator_id,
                error,
            )
            raise SecretUnreadable from None

    def _of(self, account_id: Any) -> Sequence[Any]:
        return self.session.execute(
            select(Authenticator.id, Authenticator.secret, Authenticator.last_step)
            .where(
                Authenticator.account_id == account_id,
                Authenticator.kind == TOTP_KIND,
                Authenticator.confirmed_at.is_not(None),
            )
            .order_by(Authenticator.id)
        ).all()


def use_steps(session: AnySession, used: Sequence[UsedStep]) -> None:
    """Compared and stored in one statement: of many at once with one code, one passes."""
    for each in used:
        done: Any = session.execute(
            update(Authenticator)
            .where(
                Authenticator.id == each.authenticator_id,
                or_(Authenticator.last_step.is_(None), Authenticator.last_step < each.step),
            )
            .values(last_step=each.step, last_used_at=each.at)
            .execution_options(synchronize_session=False)
        )
        if not done.rowcount:
            raise WrongFactor


def _row(account_id: Any, authenticator_id: int) -> str:
    return f"{shown(account_id)}/{authenticator_id}"
