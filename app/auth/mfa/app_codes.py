"""Authenticator apps (TOTP): encrypted secrets and checks of codes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Row, or_, select, update

from ...accounts.models import AccountLike
from ...core.clock import Clock
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import AnySession, execute_bulk, write_last
from ...core.types import AccountKey
from ..proof_names import TOTP
from ..sealing import DecryptionFailed, Sealing
from . import totp
from .errors import SecretUnreadable, WrongFactor
from .models import TOTP_KIND, Authenticator

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

    def check(self, account: AccountLike, code: object) -> str | None:
        """Return the proof if an app of the account shows this code now and it is unused."""
        unreadable = False
        for row in self._apps(account.id):
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

    def seal(self, secret: bytes, account_id: AccountKey, authenticator_id: int) -> str:
        return self.sealing.seal(secret, _row_name(account_id, authenticator_id))

    def open(self, sealed: str | None, account_id: AccountKey, authenticator_id: int) -> bytes:
        try:
            return self.sealing.open(sealed or "", _row_name(account_id, authenticator_id))
        except DecryptionFailed as error:
            log.error(
                "The secret of authenticator %s cannot be decrypted: %s. See AUTH.ENCRYPTION_KEYS"
                " and, where those are not set, SECRET_KEY and CORE.SECRET_KEY_FALLBACKS",
                authenticator_id,
                error,
            )
            raise SecretUnreadable from None

    def _apps(self, account_id: AccountKey) -> Sequence[Row[int, str | None, int | None]]:
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
    """Store the used time steps; raise WrongFactor if another request has used one.

    Each step is compared and stored in one statement.
    """
    for authenticator_id, step, at in used:
        stored = execute_bulk(
            session,
            update(Authenticator)
            .where(
                Authenticator.id == authenticator_id,
                or_(Authenticator.last_step.is_(None), Authenticator.last_step < step),
            )
            .values(last_step=step, last_used_at=at),
        )
        if not stored.rowcount:
            raise WrongFactor


def _row_name(account_id: AccountKey, authenticator_id: int) -> str:
    return f"{serialize_id(account_id)}/{authenticator_id}"
