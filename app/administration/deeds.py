"""What is done for an account without changing what it is: as the command line does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..accounts.models import AccountLike
from ..auth.limits import Failures
from ..auth.recovery import Recovery
from ..auth.sign_in.log_out import LogOut
from ..registration.verification import Verification
from .service import Administration
from .view import Details


@dataclass(eq=False)
class Deeds:
    administration: Administration
    failures: Failures
    log_out: LogOut
    recovery: Recovery
    verification: Verification

    def unlock(self, actor: AccountLike, account_id: Any) -> Details:
        """Reset the counters of wrong passwords and wrong second factors, from every address."""
        account = self.administration.find(actor, account_id)
        self.failures.unlock(self.administration.session, account)
        return self._details(account_id)

    def sign_out(self, actor: AccountLike, account_id: Any) -> Details:
        self.log_out.by_operator(self.administration.find(actor, account_id))
        return self._details(account_id)

    def recover(self, actor: AccountLike, account_id: Any, address: str) -> None:
        """Within the limits on such mails, so that nobody's inbox is filled by it."""
        account = self.administration.find(actor, account_id)
        self.recovery.request(account.email, address)

    def verify(self, actor: AccountLike, account_id: Any) -> Details:
        """Take an administrator's word for it that the address is its owner's."""
        self.verification.vouch_for(self.administration.find(actor, account_id))
        return self._details(account_id)

    def _details(self, account_id: Any) -> Details:
        return self.administration.view.read(account_id)
