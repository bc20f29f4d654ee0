"""Re-authentication of a signed-in caller, which sensitive actions require.

The proof must be this account's, and only the session of the request is renewed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.coded_messages import DISABLED
from ...core.context import report_action
from ...core.db.transaction import AnySession, transaction
from ...core.errors import REVOKED, BadRequest, Invalid, Problem
from ..actions import REAUTHENTICATION_SUCCEEDED
from ..caller import Caller, lock_caller
from ..errors import (
    FreshSignInRequired,
    IncorrectCredentials,
    InvalidCredentials,
    ReauthenticationRequired,
)
from ..proof_names import PASSWORD, has_factor
from ..sign_in.options import SignInOptions
from ..sign_in.password import Login
from ..sign_in.policy import SignInPolicy, SignInResult

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from ..sessions.models import AccountSession

# Checks a proof and returns its name. Raises for an invalid proof, or a proof of another account,
# and counts it together with failed sign-ins.
StepUpMethod = Callable[[Caller, Any, SignInOptions], str]
# Renews the caller's session; returns None for a session that has ended.
Renew = Callable[[int, tuple[str, ...]], "AccountSession | None"]


class StepUp(NamedTuple):
    """The re-authentication methods besides the password."""

    # By the member of the request body that each method reads.
    methods: Mapping[str, StepUpMethod]
    # The errors that the methods raise.
    refusals: tuple[type[Problem], ...] = ()


def has_no_factor(_account: AccountLike) -> bool:
    return False


@dataclass(eq=False)
class Freshness:
    login: Login
    clock: Clock
    # The default maximum age of a sign-in.
    seconds: float
    # Whether an account has set up a second factor.
    has_factor: Callable[[AccountLike], bool] = has_no_factor

    def is_fresh(self, caller: Caller, seconds: float | None = None, factors: int = 1) -> bool:
        """Return whether the sign-in is recent. Without sessions, its time is the time at which the
        token was issued."""
        since = caller.authenticated_at if factors == 1 else caller.factor_at
        allowed = self.seconds if seconds is None else seconds
        return since is not None and self.clock.now().timestamp() - since <= allowed

    def require(self, caller: Caller, seconds: float | None = None, factors: int = 1) -> None:
        if not self.is_fresh(caller, seconds, factors):
            raise ReauthenticationRequired(self.seconds if seconds is None else seconds, factors)

    def require_with_factor(self, caller: Caller) -> None:
        """Require a recent sign-in, with a second factor if the account has one. A trusted device
        is no second factor here."""
        self.require(caller, factors=2 if self.has_factor(caller.account) else 1)

    def check(
        self, caller: Caller, password: str | None, ip_address: str, *, protects: bool = False
    ) -> str | None:
        """Require a recent sign-in or the password; return the hash that the password matched.

        `protects` is for changes of the account's own protection. They require a recent second
        factor if the account has one: a stolen session and password are not enough.
        """
        matched = None
        if password is not None:
            matched = self.login.match(caller.account.email, password, ip_address)
        # Checked before the weaker requirement, so that the user is asked once.
        if protects:
            self.check_factor(caller)
        if password is None and not self.is_fresh(caller):
            raise FreshSignInRequired(self.seconds)
        return matched

    def check_factor(self, caller: Caller) -> None:
        if not self.is_fresh(caller, factors=2) and self.has_factor(caller.account):
            raise ReauthenticationRequired(self.seconds, factors=2)


@dataclass(eq=False)
class Reauthentication:
    session: AnySession
    accounts: Accounts
    login: Login
    freshness: Freshness
    policy: SignInPolicy
    # The methods of the enabled features.
    step_up: StepUp
    # None without sessions.
    renew_session: Renew | None

    def show(
        self, caller: Caller, method: str, given: object, options: SignInOptions
    ) -> SignInResult:
        self.check_caller(caller)
        proof = self._checked(caller, method, given, options)
        if caller.session is None and not has_factor((proof,)):
            # Without a session, the new token is a new sign-in, which requires a second factor.
            self.freshness.check_factor(caller)
        with transaction(self.session):
            account = lock_caller(self.accounts, caller)
            session = self._renewed(caller, proof)
            report_action(
                self.session, REAUTHENTICATION_SUCCEEDED, account_id=account.id, proofs=[proof]
            )
            return self.policy.renew(account, (proof,), options, session)

    def check_caller(self, caller: Caller) -> None:
        """Raise for a caller whom the application has signed in: only it can do so again."""
        if caller.is_of_application:
            raise ReauthenticationRequired(self.freshness.seconds)

    def by_password(self, caller: Caller, password: str, options: SignInOptions) -> str:
        account = self.login.verify(caller.account.email, password, options.ip_address)
        # The address may have passed to another account in the meantime.
        if account.id != caller.account.id:
            raise IncorrectCredentials
        return PASSWORD

    def _checked(self, caller: Caller, method: str, given: Any, options: SignInOptions) -> str:
        is_known = method == PASSWORD and self.accounts.passwords.enabled
        check = self.by_password if is_known else self.step_up.methods.get(method)
        if check is None:
            raise Invalid.about(method, DISABLED)
        self.login.failures.check(caller.account.email, options.ip_address)
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
            raise InvalidCredentials(reason=REVOKED)
        return session
