"""Whether the caller has authenticated recently: sensitive actions require it (step-up)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..accounts.models import AccountLike
from ..core.clock import Clock
from .caller import Caller
from .errors import FreshSignInRequired, ReauthenticationRequired
from .sign_in.password import Login


def has_no_factor(_account: AccountLike) -> bool:
    return False


@dataclass(eq=False)
class Freshness:
    login: Login
    clock: Clock
    # How old a sign-in may be where nothing else is said.
    seconds: float
    # Whether an account has set up a second factor.
    has_factor: Callable[[AccountLike], bool] = has_no_factor

    def is_fresh(self, caller: Caller, seconds: float | None = None, factors: int = 1) -> bool:
        """Without sessions, the moment at which a token was issued is the one of its sign-in."""
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
        self, caller: Caller, password: str | None, address: str, *, protects: bool = False
    ) -> str | None:
        """A sign-in of the last minutes, or the password, which is counted where it is wrong; then
        the hash is told that it goes with.

        What `protects` the account is not to be taken from it by whoever has a session of it and
        its password: where it has a second factor, that must have been shown in those minutes.
        """
        matched = None
        if password is not None:
            matched = self.login.match(caller.account.email, password, address)
        # Checked before the weaker requirement, so that the user is asked once.
        if protects:
            self.check_factor(caller)
        if password is None and not self.is_fresh(caller):
            raise FreshSignInRequired(self.seconds)
        return matched

    def check_factor(self, caller: Caller) -> None:
        if not self.is_fresh(caller, factors=2) and self.has_factor(caller.account):
            raise ReauthenticationRequired(self.seconds, factors=2)
