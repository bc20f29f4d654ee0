"""The only place that checks second factors: at sign-in and at re-authentication."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import BindParameter, CompoundSelect, bindparam, literal, select, union

from ...accounts.models import AccountLike
from ...core.db.transaction import AnySession, after_commit, transaction
from ...core.types import AccountKey
from ..limits import Failures
from ..proof_names import RECOVERY_CODE
from ..sign_in.options import SignInOptions
from .errors import SecretUnreadable, WrongFactor
from .limits import FactorLimits
from .models import PASSKEY_KIND, TOTP_KIND, Authenticator, RecoveryCode
from .policy import Requirement

# Returns the name of the proof (`proof_names.py`), or None for a wrong value. The proof is used up
# in `write_last`, so that its row is locked for a short time; that raises WrongFactor if another
# request has used it up.
FactorCheck = Callable[[AccountLike, object], str | None]


@dataclass(eq=False)
class SecondFactors:
    session: AnySession
    failures: Failures
    limits: FactorLimits
    requirement: Requirement
    # By the method names of the API.
    checks: Mapping[str, FactorCheck]

    def check(self, account: AccountLike, kind: str, value: object, options: SignInOptions) -> str:
        """Return the proof, which is used up with the open transaction; raise WrongFactor.

        A wrong value is counted as a wrong password from this IP address, and for the account.
        """
        check = self.checks.get(kind)
        with transaction(self.session) as session:
            counted = self.limits.count_attempt(account, kind, options)
            try:
                proof = check(account, value) if check else None
            except SecretUnreadable:
                self.limits.uncount(counted)
                raise
            if proof is None:
                self.failures.count(account.email, options.ip_address)
                raise WrongFactor(note={"account_id": account.id})
            after_commit(session, lambda: self.limits.uncount(counted))
            return proof

    def methods(self, account_id: AccountKey) -> list[str]:
        """Return the methods of the account; empty without a second factor."""
        found = set(self.session.scalars(self._methods, {"account_id": account_id}))
        if found.isdisjoint(self.requirement.kinds):
            return []
        return [name for name in (TOTP_KIND, PASSKEY_KIND, RECOVERY_CODE) if name in found]

    @cached_property
    def _methods(self) -> CompoundSelect[Any]:
        """Return the query, built once: building it takes as long as executing it, and every
        sign-in executes it."""
        account_id: BindParameter[Any] = bindparam("account_id")
        kinds = select(Authenticator.kind).where(
            Authenticator.account_id == account_id, Authenticator.confirmed_at.is_not(None)
        )
        codes = select(literal(RECOVERY_CODE)).where(
            RecoveryCode.account_id == account_id, RecoveryCode.used_at.is_(None)
        )
        return union(kinds, codes)
