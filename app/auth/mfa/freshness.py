from __future__ import annotations

from dataclasses import dataclass

from ..caller import Caller
from ..fresh import Freshness
from .factors import SecondFactors


@dataclass(eq=False)
class FactorFreshness:
    """For what changes the second factors themselves: a sign-in of the last minutes, with a factor
    where the account has one. A trusted device shows none."""

    freshness: Freshness
    second_factors: SecondFactors

    def check(self, caller: Caller) -> None:
        factors = 2 if self.second_factors.methods(caller.account.id) else 1
        self.freshness.require(caller, factors=factors)
