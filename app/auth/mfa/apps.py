"""Authenticator apps: their secrets, the codes that they show, and setting one up."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import or_, select, update

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import AnySession, transaction, write_last
from ...core.types import AccountKey, JsonObject
from ..sign_in.options import TOTP, SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from . import totp
from .authenticators import WAITS, Authenticators
from .errors import AuthenticatorNotFound, FactorsOff, SecretUnreadable, WrongFactor
from .models import TOTP_KIND, Authenticator
from .policy import Enrolling, hold
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

    def check(self, account: AccountLike, code: object) -> str | None:
        """Return the proof if an app of the account shows this code now and it is unused."""
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

    def seal(self, secret: bytes, account_id: AccountKey, authenticator_id: int) -> str:
        return self.sealing.seal(secret, _row(account_id, authenticator_id))

    def open(self, sealed: str | None, account_id: AccountKey, authenticator_id: int) -> bytes:
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

    def _of(self, account_id: AccountKey) -> Sequence[Any]:
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


def _row(account_id: AccountKey, authenticator_id: int) -> str:
    return f"{serialize_id(account_id)}/{authenticator_id}"


DEFAULT_NAME = "Authenticator app"


class EnrolmentResult(NamedTuple):
    outcome: SignInResult | Challenge
    # With the first authenticator.
    recovery_codes: Sequence[str] | None


@dataclass(eq=False)
class AppEnrolment:
    """Sets an app up: its secret is shown once, and counts when one of its codes was right."""

    session: AnySession
    accounts: Accounts
    apps: AuthenticatorApps
    authenticators: Authenticators
    policy: SignInPolicy
    # As apps list it.
    issuer: str
    clock: Clock

    def begin(self, who: Enrolling, name: str | None) -> JsonObject:
        """The secret, here for the last time. The newest alone waits to be confirmed."""
        if TOTP_KIND not in self.authenticators.requirement.methods:
            raise FactorsOff
        secret = totp.new_secret()
        with transaction(self.session):
            account = hold(self.accounts, who.account)
            self._forget_waiting(account.id)
            self.authenticators.make_room(account)
            made = Authenticator(
                account_id=account.id,
                kind=TOTP_KIND,
                name=name or DEFAULT_NAME,
                created_at=self.clock.now(),
            )
            self.session.add(made)
            self.session.flush()
            # The secret is bound to the id of its row, which exists only now.
            made.secret = self.apps.seal(secret, account.id, made.id)
            uri = totp.uri(secret, self.issuer, account.email)
            return {"id": made.id, "secret": totp.shown(secret), "uri": uri}

    def confirm(
        self, who: Enrolling, authenticator_id: int, code: str, options: SignInOptions
    ) -> EnrolmentResult:
        """Every sign-in from before ends, for any of them may be somebody else's who knows the
        password; whoever confirms is signed in anew, with the factor. Of several at once one is."""
        with transaction(self.session):
            account = hold(self.accounts, who.account)
            made = self._waiting(account.id, authenticator_id)
            secret, now = self.apps.open(made.secret, account.id, made.id), self.clock.now()
            step = totp.step_of(secret, code, now)
            if step is None:
                raise WrongFactor(note={"event": "factor_change", "account_id": account.id})
            # The code is used up by that.
            made.confirmed_at, made.last_step, made.last_used_at = now, step, now
            codes = self.authenticators.added(account, made)
            self.accounts.end_tokens(account)
            return EnrolmentResult(self.policy.admit(account, (*who.by, TOTP), options), codes)

    def _waiting(self, account_id: AccountKey, authenticator_id: int) -> Authenticator:
        found = self.session.scalar(
            select(Authenticator).where(
                Authenticator.id == authenticator_id,
                Authenticator.account_id == account_id,
                Authenticator.kind == TOTP_KIND,
                Authenticator.confirmed_at.is_(None),
                Authenticator.created_at > self.clock.now() - WAITS,
            )
        )
        if found is None:
            raise AuthenticatorNotFound
        return found

    def _forget_waiting(self, account_id: AccountKey) -> None:
        waiting = (Authenticator.kind == TOTP_KIND, Authenticator.confirmed_at.is_(None))
        self.authenticators.forget(account_id, *waiting)
