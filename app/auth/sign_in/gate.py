"""The one gate between "proved who it is" and "signed in", whatever the proof was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ...accounts.models import DELETING, PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.transaction import AnySession, transaction
from ...core.errors import Problem
from ...core.events import Emitter
from ...core.hooks import Hooks
from ...core.origin import note_account
from ...core.records.recorder import record
from ..errors import AccountDeleting, AwaitsVerification, InactiveAccount
from ..tokens.access import Tokens
from ..tokens.revocation import Revocations

LOGGED_IN = "account-logged-in"

# What an account proves itself by.
PASSWORD = "password"
PROVIDER = "provider"
# A host vouches for it, and does not say by what.
HOST = "host"


@dataclass(eq=False)
class SignIn:
    """An account on its way in."""

    account: AccountLike
    # Each proof that was given, in order: a second factor comes after a password.
    by: tuple[str, ...]
    # What one stage or hook of ours has read and a later one needs too.
    shared: dict[str, Any] = field(default_factory=dict)


class Opened(NamedTuple):
    """Signed in: what the login route answers."""

    payload: dict[str, Any]


class Challenge(NamedTuple):
    """Something more is asked for first; the client is told by this problem.

    Returned and not raised, so that what the sign-in has written so far is stored.
    """

    problem: Problem


def payload_of(outcome: Opened | Challenge) -> dict[str, Any]:
    """What is answered to somebody who is in; what more is asked for is raised."""
    if isinstance(outcome, Challenge):
        raise outcome.problem
    return outcome.payload


# Asked in turn. One that raises refuses, and one that returns None lets the account pass.
Stage = Callable[[SignIn], Challenge | None]


@dataclass(eq=False)
class Gate:
    session: AnySession
    tokens: Tokens
    revocations: Revocations
    emitter: Emitter
    hooks: Hooks
    clock: Clock
    stages: list[Stage]

    def admit(self, account: AccountLike, by: tuple[str, ...]) -> Opened | Challenge:
        """Sign an account in that has proved who it is, unless a stage asks for more."""
        sign_in = SignIn(account, by)
        with transaction(self.session):
            for stage in self.stages:
                challenge = stage(sign_in)
                if challenge is not None:
                    return challenge
            return Opened(self._open(sign_in))

    def _open(self, sign_in: SignIn) -> dict[str, Any]:
        account = sign_in.account
        # The keystore first: in the database it must not wait for our own write.
        self.revocations.lift(account.email, self.session)
        account.logged_out_at = None
        # A host that does without it has None in the column's place.
        if getattr(type(account), "last_login_date", None) is not None:
            cast(Any, account).last_login_date = self.clock.now()
        note_account(account.id)
        self.emitter.emit(LOGGED_IN, account, self.session)
        record(self.session, "login.succeeded", account_id=account.id, proofs=sign_in.by)
        claims = self.hooks.claims(account, self.session, shared=sign_in.shared)
        token, expires = self.tokens.issue(account.email, claims)
        payload = {
            "access_token": token,
            "expires": expires,
            "token_type": "bearer",
            "account": account,
            "user": None,
        }
        answered: dict[str, Any] = self.hooks.payload(payload, self.session, shared=sign_in.shared)
        return answered


def active_only(accounts: Accounts) -> Stage:
    def check(sign_in: SignIn) -> None:
        if sign_in.account.status == PENDING:
            raise AwaitsVerification(note={"account_id": sign_in.account.id})
        if sign_in.account.status == DELETING:
            raise AccountDeleting(note={"account_id": sign_in.account.id})
        if not accounts.is_active(sign_in.account):
            raise InactiveAccount(note={"account_id": sign_in.account.id})
        accounts.reinstate(sign_in.account)

    return check
