"""Who may set an authenticator up: somebody who has just signed in, or who must have a factor
before they are signed in at all, and has an `mfa_token` that is good for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ..caller import Caller
from ..errors import InactiveCaller, InvalidCredentials
from .errors import UnprovenAddress
from .freshness import FactorFreshness
from .mfa_tokens import ENROLLING, MfaTokens


class Enrolling(NamedTuple):
    account: AccountLike
    # What was shown for the sign-in that goes on from here; nothing where one was finished before.
    by: tuple[str, ...] = ()


@dataclass(eq=False)
class Enrollers:
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
            # Or whoever registered somebody else's address would lock them out of it.
            raise UnprovenAddress
        return who
