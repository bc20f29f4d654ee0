"""Who must have a second factor, who may change one, and after which sign-in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ..caller import Caller
from ..errors import InactiveCaller, InvalidCredentials
from ..fresh import Freshness
from ..proofs import account_subject
from ..settings import AuthSettings
from .errors import UnprovenAddress
from .mfa_tokens import ENROLLING, MfaTokens
from .models import PASSKEY_KIND, TOTP_KIND


@dataclass(eq=False)
class Requirement:
    """Who must have a second factor, and what counts as one."""

    everybody: bool
    roles: Collection[str]
    # What may be set up.
    methods: Sequence[str]
    # The authenticators that are asked for beside another proof. An app that somebody has counts
    # also where no more of them may be set up: without it a password alone would do.
    kinds: Collection[str]

    @classmethod
    def of(cls, auth: AuthSettings) -> Requirement:
        if auth.MFA == "off":
            return cls(False, (), (), ())
        passkey = {PASSKEY_KIND} & set(auth.MFA_METHODS)
        return cls(
            auth.MFA == "required",
            frozenset(auth.MFA_REQUIRED_ROLES),
            auth.MFA_METHODS,
            {TOTP_KIND, *passkey},
        )

    def holds_for(self, account: AccountLike) -> bool:
        return self.everybody or account.role in self.roles


@dataclass(eq=False)
class FactorFreshness:
    """For what changes the second factors themselves: a sign-in of the last minutes, with a factor
    where the account has one. A trusted device shows none."""

    freshness: Freshness

    def check(self, caller: Caller) -> None:
        has_factor = self.freshness.has_factor(caller.account)
        self.freshness.require(caller, factors=2 if has_factor else 1)


class Enrolling(NamedTuple):
    account: AccountLike
    # What was shown for the sign-in that goes on from here; nothing where one was finished before.
    by: tuple[str, ...] = ()


@dataclass(eq=False)
class Enrollers:
    """Finds who may set an authenticator up: a user who has just signed in, or one who must have a
    factor before the sign-in is complete and has an `mfa_token` for that."""

    accounts: Accounts
    tokens: MfaTokens
    freshness: FactorFreshness

    def find(self, caller: Caller | None, mfa_token: str | None) -> Enrolling:
        if caller is not None:
            if not self.accounts.is_active(caller.account):
                raise InactiveCaller
            self.freshness.check(caller)
            who = Enrolling(caller.attached_account)
        elif mfa_token is not None:
            first = self.tokens.read(ENROLLING, mfa_token)
            who = Enrolling(first.account, first.by)
        else:
            raise InvalidCredentials(note={"reason": "no_credential"})
        if not self.accounts.has_proven_address(who.account):
            # Otherwise a registration with a foreign address would lock its owner out.
            raise UnprovenAddress
        return who


def hold(accounts: Accounts, account: AccountLike) -> AccountLike:
    """The account until the end of the transaction: nobody else changes its factors meanwhile. What
    has ended the caller's token in this moment ends the caller's wishes too."""
    state = account_subject(account).state
    held: AccountLike | None = accounts.lock(account.id)
    if held is None or account_subject(held).state != state:
        raise InvalidCredentials
    return held
