"""Changes of their second factors by signed-in users.

Removing an authenticator, and new recovery codes, end every other sign-in of the account: one of
them may be an attacker's.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import update

from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, execute_bulk, transaction
from ...core.types import JsonObject
from ..caller import Caller
from ..sessions.models import AccountSession
from ..sign_in.policy import SignInPolicy
from .authenticators import Authenticators

_SHOWN = ("id", "kind", "name", "created_at", "last_used_at")


@dataclass(eq=False)
class FactorChanges:
    session: AnySession
    accounts: Accounts
    authenticators: Authenticators
    policy: SignInPolicy
    # Ends the caller's other sessions; None unless every sign-in has a stored session.
    end_other_sessions: Callable[[Caller], object] | None

    def remove(self, caller: Caller, authenticator_id: int) -> JsonObject:
        """Return the removed authenticator, with a new token if the caller's has ended."""
        with transaction(self.session):
            removed = self.authenticators.remove(caller.attached_account, authenticator_id)
            shown = {name: getattr(removed, name) for name in _SHOWN}
            return {**shown, **self._end_others(caller)}

    def renew_recovery_codes(self, caller: Caller) -> JsonObject:
        """Return new recovery codes, with a new token if the caller's has ended."""
        with transaction(self.session):
            codes = self.authenticators.renew_recovery_codes(caller.attached_account)
            return {"recovery_codes": codes, **self._end_others(caller)}

    def _end_others(self, caller: Caller) -> JsonObject:
        if self.end_other_sessions is not None and caller.session is not None:
            self.end_other_sessions(caller)
            return {}
        account = caller.attached_account
        self.accounts.end_tokens(account)
        if caller.is_of_application:
            return {}
        if caller.session is None:
            return self.policy.reissue(account, caller.factor_at, caller.expires_at)
        # The caller's session cookie stays valid; the session's expiry does not change.
        own = update(AccountSession).where(AccountSession.id == caller.session.id)
        execute_bulk(self.session, own.values(created_at=account.tokens_valid_from))
        return {}
