"""The one place that says whether a second factor is right: at a sign-in, and once more later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import BindParameter, CompoundSelect, bindparam, literal, select, union

from ...accounts.models import AccountLike
from ...core.db.transaction import AnySession, after_commit, transaction
from ..limits import Failures
from ..sign_in.proof import RECOVERY_CODE
from .errors import SecretUnreadable, WrongFactor
from .limits import FactorFailures
from .models import PASSKEY_KIND, TOTP_KIND, Authenticator, RecoveryCode
from .requirement import Requirement

# Says of what somebody shows which proof it is (`sign_in.proof`), or None where it is wrong. It
# must write nothing itself: whoever signs in lifts a revocation in the keystore, which in the
# database waits for no write of ours. What uses the proof up it hands to `write_last`, which may
# still refuse it, by raising WrongFactor, when somebody else was faster.
FactorCheck = Callable[[AccountLike, Any], str | None]


@dataclass(eq=False)
class SecondFactors:
    session: AnySession
    failures: Failures
    wrong_factors: FactorFailures
    requirement: Requirement
    # By the words that clients are told.
    factors: dict[str, FactorCheck] = field(default_factory=dict)

    def check(self, account: AccountLike, kind: str, value: Any, address: str) -> str:
        """The proof that was given, used up with the transaction that it is in. A wrong one is
        counted twice: as a wrong password from this address, and for the account from anywhere."""
        check = self.factors.get(kind)
        with transaction(self.session):
            with self.session.no_autoflush:
                self.wrong_factors.try_one(account)
                try:
                    proof = check(account, value) if check else None
                except SecretUnreadable:
                    self.wrong_factors.forget_one(account.id)
                    raise
            if proof is None:
                self.failures.count(account.email, address)
                raise WrongFactor(note={"account_id": account.id})
            account_id = account.id
            after_commit(self.session, lambda: self.wrong_factors.forget_one(account_id))
            return proof

    def methods(self, account_id: Any) -> list[str]:
        """What the account can answer a challenge by; empty where it has no authenticator."""
        with self.session.no_autoflush:
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
