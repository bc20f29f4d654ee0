from __future__ import annotations

from dataclasses import dataclass

from ..caller import Caller
from ..fresh import Freshness


@dataclass(eq=False)
class FactorFreshness:
    """For what changes the second factors themselves: a sign-in of the last minutes, with a factor
    where the account has one. A trusted device shows none."""

    freshness: Freshness

    def check(self, caller: Caller) -> None:
        has_factor = self.freshness.has_factor(caller.account)
        self.freshness.require(caller, factors=2 if has_factor else 1)
