"""The only place that checks second factors: at sign-in and at re-authentication."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import BindParameter, CompoundSelect, bindparam, literal, select, union

from ...accounts.models import AccountLike
from ...core.db.transaction import AnySession, after_commit, transaction
from ...core.types import AccountKey
from ..limits import Failures
from ..sign_in.options import RECOVERY_CODE, SignInOptions
from .errors import SecretUnreadable, WrongFactor
from .limits import FactorFailures
from .models import PASSKEY_KIND, TOTP_KIND, Authenticator, RecoveryCode
from .policy import Requirement

# Says of what somebody shows which proof it is (`sign_in.options`), or None where it is wrong. What
# uses the proof up is handed to `write_last`, so that the row is locked for a short time; that
# write raises WrongFactor where another request has used the proof up.
FactorCheck = Callable[[AccountLike, Any], str | None]


@dataclass(eq=False)
class SecondFactors:
    session: AnySession
    failures: Failures
    wrong_factors: FactorFailures
    requirement: Requirement
    # By the method names of the API.
    factors: dict[str, FactorCheck] = field(default_factory=dict)

    def check(self, account: AccountLike, kind: str, value: object, options: SignInOptions) -> str:
        """The proof that was given, used up with the transaction that it is in. A wrong one is
        counted twice: as a wrong password from this address, and for the account from anywhere."""
        check, address = self.factors.get(kind), options.address
        with transaction(self.session):
            counted = self.wrong_factors.count_try(account, kind, options)
            try:
                proof = check(account, value) if check else None
            except SecretUnreadable:
                self.wrong_factors.uncount(counted)
                raise
            if proof is None:
                self.failures.count(account.email, address)
                raise WrongFactor(note={"account_id": account.id})
            account_id = account.id
            after_commit(self.session, lambda: self.wrong_factors.uncount(counted))
            after_commit(self.session, lambda: self.wrong_factors.remember(account_id, address))
            return proof

    def methods(self, account_id: AccountKey) -> list[str]:
        """What the account can answer a challenge by; empty where it has no authenticator."""
        found = set(self.session.scalars(self._found, {"account_id": account_id}))
        if found.isdisjoint(self.requirement.kinds):
            return []
        return [name for name in (TOTP_KIND, PASSKEY_KIND, RECOVERY_CODE) if name in found]

    @cached_property
    def _found(self) -> CompoundSelect[Any]:
        """Written once: it takes as long as asking it, and every sign-in and change asks it."""
        asked: BindParameter[Any] = bindparam("account_id")
        kinds = select(Authenticator.kind).where(
            Authenticator.account_id == asked, Authenticator.confirmed_at.is_not(None)
        )
        codes = select(literal(RECOVERY_CODE)).where(
            RecoveryCode.account_id == asked, RecoveryCode.used_at.is_(None)
        )
        return union(kinds, codes)
