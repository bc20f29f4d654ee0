"""Second factors as ways to show once more who one is."""

from __future__ import annotations

from typing import Any

from ...core.keystore import KeystoreUnavailable
from ..caller import Caller
from ..step_up.service import Reauthentication, Way
from .errors import SecretUnreadable, WrongFactor
from .factors import SecondFactors
from .schemas import SHOWN


def add_ways(reauthentication: Reauthentication, factors: SecondFactors) -> None:
    """Passkeys, for which there must be a challenge first, add themselves."""
    for field in ("otp", "recovery_code"):
        reauthentication.ways[field] = _by(factors, SHOWN[field])
    reauthentication.answers.extend((WrongFactor, SecretUnreadable, KeystoreUnavailable))


def _by(factors: SecondFactors, kind: str) -> Way:
    def show(caller: Caller, given: Any, address: str) -> str:
        return factors.check(caller.attached_account, kind, given, address)

    return show
