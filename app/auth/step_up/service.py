"""Re-authentication of a signed-in caller, which sensitive actions require.

The proof must be this account's, and only the session of the request is renewed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...accounts.service import Accounts
from ...core.context import report_action
from ...core.db.transaction import AnySession, transaction
from ...core.errors import BadRequest, Invalid, Problem
from ..actions import REAUTHENTICATION_SUCCEEDED
from ..caller import Caller, lock_caller
from ..errors import IncorrectCredentials, InvalidCredentials
from ..fresh import Freshness
from ..sign_in.options import PASSWORD, SignInOptions, has_factor
from ..sign_in.password import Login
from ..sign_in.policy import SignInPolicy, SignInResult

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from ..sessions.models import AccountSession

# What the proof is called that was given. What is wrong, or another account's, is refused, and
# counted together with what is wrong at the door.
Way = Callable[[Caller, Any, SignInOptions], str]
# Renews the caller's session; returns None for a session that has ended.
Renew = Callable[[Any, tuple[str, ...]], "AccountSession | None"]


class StepUp(NamedTuple):
    """Ways to re-authenticate next to the password."""

    # By the member of the body that each reads.
    ways: Mapping[str, Way]
    # What they may be refused with.
    refusals: tuple[type[Problem], ...] = ()


@dataclass(eq=False)
class Reauthentication:
    session: AnySession
    accounts: Accounts
    login: Login
    freshness: Freshness
    policy: SignInPolicy
    # Those of the features that are on.
    step_up: StepUp
    # None where no sessions are stored.
    renew_session: Renew | None

    def show(self, caller: Caller, way: str, given: object, options: SignInOptions) -> SignInResult:
        proof = self._checked(caller, way, given, options)
        if caller.session is None and not has_factor((proof,)):
            # Another token is then another sign-in, and must not be to be had for less.
            self.freshness.check_factor(caller)
        with transaction(self.session):
            account = lock_caller(self.accounts, caller)
            session = self._renewed(caller, proof)
            report_action(
                self.session, REAUTHENTICATION_SUCCEEDED, account_id=account.id, proofs=[proof]
            )
            return self.policy.renew(account, (proof,), options, session)

    def by_password(self, caller: Caller, password: str, options: SignInOptions) -> str:
        account = self.login.verify(caller.account.email, password, options.address)
        # The address may have passed to another account in this moment.
        if account.id != caller.account.id:
            raise IncorrectCredentials
        return PASSWORD

    def _checked(self, caller: Caller, way: str, given: Any, options: SignInOptions) -> str:
        check = self.by_password if way == PASSWORD else self.step_up.ways.get(way)
        if check is None:
            raise Invalid.about(way, "Is not switched on here.")
        self.login.failures.check(caller.account.email, options.address)
        try:
            return check(caller, given, options)
        except BadRequest as error:
            error.note = {**error.note, "event": "reauthentication"}
            raise

    def _renewed(self, caller: Caller, proof: str) -> AccountSession | None:
        if self.renew_session is None or caller.session is None:
            return None
        session = self.renew_session(caller.session.id, (proof,))
        if session is None:
            raise InvalidCredentials
        return session
