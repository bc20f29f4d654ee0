"""Taking all second factors away from an account: by an operator's word for who has lost them, and
where somebody else may have set them up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, transaction
from ...core.records.recorder import record
from ..errors import NotAuthorized
from .authenticators import Authenticators
from .devices import TrustedDevices
from .models import Authenticator
from .notices import FactorNotices
from .recovery_codes import RecoveryCodes


@dataclass(eq=False)
class FactorResets:
    session: AnySession
    accounts: Accounts
    authenticators: Authenticators
    recovery_codes: RecoveryCodes
    devices: TrustedDevices
    notices: FactorNotices

    def reset(self, account: AccountLike) -> int:
        """How many authenticators there were. Every sign-in ends too: whoever asked the operator
        need not be who is signed in."""
        with transaction(self.session):
            gone = self._forget(account)
            self.accounts.end_tokens(account)
            self.notices.tell(self.notices.mails.reset(account.email))
            return gone

    def reset_another(self, actor: AccountLike, account_id: Any) -> int:
        """One's own are removed as everybody's are, with a factor."""
        if account_id == actor.id:
            raise NotAuthorized
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        return self.reset(account)

    def reclaim(self, account: AccountLike, since: datetime | None) -> None:
        """What was set up since then by somebody who was not the account's owner; without a moment,
        all of it. Earlier ones stay: who reads a mail is not for that who has the factor."""
        which = () if since is None else (Authenticator.created_at >= since,)
        self._forget(account, *which)

    def _forget(self, account: AccountLike, *which: Any) -> int:
        gone = self.authenticators.forget(account.id, *which)
        if gone or not which:
            self.recovery_codes.forget(account.id)
            self.devices.forget(account.id)
        if gone:
            record(self.session, "authenticators.reset", account_id=account.id, authenticators=gone)
        return gone
