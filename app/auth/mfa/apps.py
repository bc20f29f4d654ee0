"""Authenticator apps (TOTP): encrypted secrets, checks of codes, and the setup of an app."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Row, or_, select, update

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.account_ids import serialize_id
from ...core.db.pruning import delete_rows
from ...core.db.transaction import AnySession, execute_bulk, transaction, write_last
from ...core.types import AccountKey, JsonObject
from ..sign_in.options import TOTP, SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from . import totp
from .authenticators import CONFIRM_WITHIN, Authenticators
from .errors import AuthenticatorNotFound, FactorsOff, SecretUnreadable, WrongFactor
from .models import TOTP_KIND, Authenticator
from .policy import Enrollee, lock_unchanged
from .sealing import DecryptionFailed, Sealing

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


DEFAULT_NAME = "Authenticator app"


class EnrollmentResult(NamedTuple):
    outcome: SignInResult | Challenge
    # Only with the first authenticator.
    recovery_codes: Sequence[str] | None


@dataclass(eq=False)
class AppEnrollment:
    """Sets up an app: its secret is shown once, and a correct code confirms it."""

    session: AnySession
    accounts: Accounts
    apps: AuthenticatorApps
    authenticators: Authenticators
    policy: SignInPolicy
    # The name of the service in the app.
    issuer: str
    clock: Clock

    def begin(self, enrollee: Enrollee, name: str | None) -> JsonObject:
        """Return the secret, which is not shown again. Earlier unconfirmed apps are deleted."""
        if TOTP_KIND not in self.authenticators.requirement.methods:
            raise FactorsOff
        secret = totp.new_secret()
        with transaction(self.session) as session:
            account = lock_unchanged(self.accounts, enrollee.account)
            delete_rows(session, Authenticator, *_unconfirmed(account.id))
            self.authenticators.check_limit(account)
            app = Authenticator(
                account_id=account.id,
                kind=TOTP_KIND,
                name=name or DEFAULT_NAME,
                created_at=self.clock.now(),
            )
            session.add(app)
            session.flush()
            # The secret is bound to the id of its row, which exists only now.
            app.secret = self.apps.seal(secret, account.id, app.id)
            uri = totp.uri(secret, self.issuer, account.email)
            return {"id": app.id, "secret": totp.as_base32(secret), "uri": uri}

    def confirm(
        self, enrollee: Enrollee, authenticator_id: int, code: str, options: SignInOptions
    ) -> EnrollmentResult:
        """Confirm an app with one of its codes, and sign in with it.

        Every earlier sign-in ends: one of them may be an attacker's who knows the password.
        """
        with transaction(self.session):
            account = lock_unchanged(self.accounts, enrollee.account)
            app = self._unconfirmed_app(account.id, authenticator_id)
            secret, now = self.apps.open(app.secret, account.id, app.id), self.clock.now()
            step = totp.step_of(secret, code, now)
            if step is None:
                raise WrongFactor(note={"event": "factor_change", "account_id": account.id})
            app.confirmed_at, app.last_used_at = now, now
            # The code is used up.
            app.last_step = step
            codes = self.authenticators.finish_setup(account, app)
            self.accounts.end_tokens(account)
            outcome = self.policy.admit(account, (*enrollee.proofs, TOTP), options)
            return EnrollmentResult(outcome, codes)

    def _unconfirmed_app(self, account_id: AccountKey, authenticator_id: int) -> Authenticator:
        found = self.session.scalar(
            select(Authenticator).where(
                *_unconfirmed(account_id),
                Authenticator.id == authenticator_id,
                Authenticator.created_at > self.clock.now() - CONFIRM_WITHIN,
            )
        )
        if found is None:
            raise AuthenticatorNotFound
        return found


def _unconfirmed(account_id: AccountKey) -> tuple[ColumnElement[bool], ...]:
    return (
        Authenticator.account_id == account_id,
        Authenticator.kind == TOTP_KIND,
        Authenticator.confirmed_at.is_(None),
    )
