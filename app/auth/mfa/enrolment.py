"""Setting an authenticator app up: a secret is shown, and counts once a code of it was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select

from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.transaction import AnySession, transaction
from ..sign_in.gate import Challenge, Gate, Opened
from ..sign_in.proof import TOTP
from . import totp
from .apps import AuthenticatorApps
from .authenticators import WAITS, Authenticators
from .enrolling import Enrolling
from .errors import AuthenticatorNotFound, FactorsOff, WrongFactor
from .holding import hold
from .models import TOTP_KIND, Authenticator

DEFAULT_NAME = "Authenticator app"


class Enrolled(NamedTuple):
    outcome: Opened | Challenge
    # With the first authenticator.
    recovery_codes: Sequence[str] | None


@dataclass(eq=False)
class AppEnrolment:
    session: AnySession
    accounts: Accounts
    apps: AuthenticatorApps
    authenticators: Authenticators
    gate: Gate
    # As apps list it.
    issuer: str
    clock: Clock

    def begin(self, who: Enrolling, name: str | None) -> dict[str, Any]:
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
            # It is bound to its row, whose id is known only now.
            made.secret = self.apps.seal(secret, account.id, made.id)
            uri = totp.uri(secret, self.issuer, account.email)
            return {"id": made.id, "secret": totp.shown(secret), "uri": uri}

    def confirm(self, who: Enrolling, authenticator_id: int, code: str) -> Enrolled:
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
            return Enrolled(self.gate.admit(account, (*who.by, TOTP)), codes)

    def _waiting(self, account_id: Any, authenticator_id: int) -> Authenticator:
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

    def _forget_waiting(self, account_id: Any) -> None:
        waiting = (Authenticator.kind == TOTP_KIND, Authenticator.confirmed_at.is_(None))
        self.authenticators.forget(account_id, *waiting)
