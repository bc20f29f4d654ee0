"""Whether somebody has just shown who they are: what is dangerous asks for it once more."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.clock import Clock
from .caller import Caller
from .errors import FreshSignInRequired
from .sign_in.password import Login

FRESH_MINUTES = 15


@dataclass(eq=False)
class Freshness:
    login: Login
    clock: Clock
    # How old a sign-in may be where nothing else is said.
    seconds: float

    def is_fresh(self, caller: Caller, seconds: float | None = None, factors: int = 1) -> bool:
        """Without sessions, the moment at which a token was issued is the one of its sign-in."""
        since = caller.authenticated_at if factors == 1 else caller.factor_at
        allowed = self.seconds if seconds is None else seconds
        return since is not None and self.clock.now().timestamp() - since <= allowed

    def check(self, caller: Caller, password: str | None, address: str) -> None:
        """A sign-in of the last minutes, or the password, which is counted where it is wrong."""
        if password is not None:
            self.login.verify(caller.account.email, password, address)
        elif not self.is_fresh(caller):
            raise FreshSignInRequired
