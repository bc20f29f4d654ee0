from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, transaction
from .errors import NoFactor
from .factors import SecondFactors
from .holding import hold
from .notices import FactorNotices
from .recovery_codes import RecoveryCodes


@dataclass(eq=False)
class CodeRenewal:
    """New recovery codes, for who has a factor that they recover."""

    session: AnySession
    accounts: Accounts
    second_factors: SecondFactors
    recovery_codes: RecoveryCodes
    notices: FactorNotices

    def renew(self, account: AccountLike) -> Sequence[str]:
        with transaction(self.session):
            account = hold(self.accounts, account)
            if not self.second_factors.methods(account.id):
                raise NoFactor
            codes = self.recovery_codes.make(account)
            self.notices.tell(self.notices.mails.recovery_codes_made(account.email))
            return codes
