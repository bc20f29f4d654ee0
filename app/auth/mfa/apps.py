"""Setting up an authenticator app: its secret is shown, and a correct code confirms it."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, select

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.pruning import delete_rows
from ...core.db.transaction import AnySession, transaction
from ...core.types import AccountKey, JsonObject
from ..proof_names import TOTP
from ..proofs import account_subject
from ..sealing import DecryptionFailed
from ..sign_in.options import SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from . import totp
from .app_codes import AuthenticatorApps
from .authenticators import CONFIRM_WITHIN, Authenticators
from .errors import AuthenticatorNotFound, WrongFactor, method_off
from .models import TOTP_KIND, Authenticator
from .policy import Enrollee, lock_unchanged

DEFAULT_NAME = "Authenticator app"
# The time of an offer, before its secret.
_TIME = struct.Struct(">Q")


class EnrollmentResult(NamedTuple):
    outcome: SignInResult | Challenge
    # Only with the first authenticator.
    recovery_codes: Sequence[str] | None


class OfferedApp(NamedTuple):
    """What a page sends back: the key of its offer, a code of the app, and its name."""

    key: str
    code: str
    name: str | None


@dataclass(eq=False)
class AppEnrollment:
    """Sets up an app in two requests of the API, or in one form of a page."""

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
        secret = totp.new_secret()
        with transaction(self.session) as session:
            account = lock_unchanged(self.accounts, enrollee.account)
            delete_rows(session, Authenticator, *_unconfirmed(account.id))
            self.authenticators.check_limit(account)
            app = self._add(account, name, secret)
            return {"id": app.id, **self._shown(account, secret)}

    def confirm(
        self, enrollee: Enrollee, authenticator_id: int, code: str, options: SignInOptions
    ) -> EnrollmentResult:
        """Confirm an app with one of its codes, and sign in with it.

        Every earlier sign-in ends: one of them may be an attacker's who knows the password.
        """
        with transaction(self.session):
            account = lock_unchanged(self.accounts, enrollee.account)
            app = self._unconfirmed_app(account.id, authenticator_id)
            secret = self.apps.open(app.secret, account.id, app.id)
            return self._activate(enrollee._replace(account=account), app, secret, code, options)

    def offer(self, account: AccountLike, key: str = "") -> JsonObject:
        """Return a secret for a page with its sealed `key`, the same secret while the key is valid.

        Nothing is stored.
        """
        secret = self._open_key(account, key) if key else None
        if secret is None:
            secret = totp.new_secret()
            seconds = int(self.clock.now().timestamp())
            key = self.apps.sealing.seal(_TIME.pack(seconds) + secret, _key_name(account))
        return {"key": key, **self._shown(account, secret)}

    def set_up(
        self, enrollee: Enrollee, offered: OfferedApp, options: SignInOptions
    ) -> EnrollmentResult | None:
        """Set up an app and confirm it, as `begin` and `confirm` do; None if the key expired.

        The key is single-use: setting up an app ends the account's tokens.
        """
        with transaction(self.session) as session:
            account = lock_unchanged(self.accounts, enrollee.account)
            secret = self._open_key(account, offered.key)
            if secret is None:
                return None
            delete_rows(session, Authenticator, *_unconfirmed(account.id))
            self.authenticators.check_limit(account)
            app = self._add(account, offered.name, secret)
            return self._activate(
                enrollee._replace(account=account), app, secret, offered.code, options
            )

    def _open_key(self, account: AccountLike, key: str) -> bytes | None:
        """Return the secret of a key, or None if the key expired or is of another account."""
        try:
            opened = self.apps.sealing.open(key, _key_name(account))
        except DecryptionFailed:
            return None
        [offered_at] = _TIME.unpack_from(opened)
        is_valid = self.clock.now().timestamp() < offered_at + CONFIRM_WITHIN.total_seconds()
        return opened[_TIME.size :] if is_valid else None

    def _shown(self, account: AccountLike, secret: bytes) -> JsonObject:
        uri = totp.uri(secret, self.issuer, account.email)
        return {"secret": totp.as_base32(secret), "uri": uri}

    def _add(self, account: AccountLike, name: str | None, secret: bytes) -> Authenticator:
        if TOTP_KIND not in self.authenticators.requirement.methods:
            raise method_off()
        app = Authenticator(
            account_id=account.id,
            kind=TOTP_KIND,
            name=name or DEFAULT_NAME,
            created_at=self.clock.now(),
        )
        self.session.add(app)
        self.session.flush()
        # The secret is bound to the id of its row, which exists only now.
        app.secret = self.apps.seal(secret, account.id, app.id)
        return app

    def _activate(
        self,
        enrollee: Enrollee,
        app: Authenticator,
        secret: bytes,
        code: str,
        options: SignInOptions,
    ) -> EnrollmentResult:
        account, now = enrollee.account, self.clock.now()
        step = totp.step_of(secret, code, now)
        if step is None:
            raise WrongFactor(note={"event": "factor_change", "account_id": account.id})
        app.confirmed_at, app.last_used_at = now, now
        # The code is used up.
        app.last_step = step
        codes = self.authenticators.finish_setup(account, app)
        self.accounts.end_tokens(account)
        proofs = (*enrollee.proofs, TOTP)
        outcome = self.policy.admit(account, proofs, options, reference=enrollee.reference)
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


def _key_name(account: AccountLike) -> str:
    """Bind a key to the account's state: ending the account's tokens ends the key."""
    subject = account_subject(account)
    return f"app-setup/{subject.id}/{subject.state!r}"


def _unconfirmed(account_id: AccountKey) -> tuple[ColumnElement[bool], ...]:
    return (
        Authenticator.account_id == account_id,
        Authenticator.kind == TOTP_KIND,
        Authenticator.confirmed_at.is_(None),
    )
