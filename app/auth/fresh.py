"""Whether somebody has just shown who they are: what is dangerous asks for it once more."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.clock import Clock
from .caller import Caller
from .errors import FreshSignInRequired
from .sign_in.password import Login

FRESH_MINUTES = 15
FRESH_SECONDS = FRESH_MINUTES * 60


@dataclass(eq=False)
class Freshness:
    login: Login
    clock: Clock

    def is_fresh(self, caller: Caller, seconds: float = FRESH_SECONDS) -> bool:
        """The moment at which a token was issued is the one of its sign-in: none is refreshed."""
        since = caller.authenticated_at
        return since is not None and self.clock.now().timestamp() - since <= seconds

    def check(self, caller: Caller, password: str | None, address: str) -> None:
        """A sign-in of the last minutes, or the password, which is counted where it is wrong."""
        if password is not None:
            self.login.verify(caller.account.email, password, address)
        elif not self.is_fresh(caller):
            raise FreshSignInRequired
