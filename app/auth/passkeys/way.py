from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError

from ...core.errors import Invalid
from ...core.web.reading import instance
from ..caller import Caller
from ..sign_in.proof import PASSKEY
from ..step_up.service import Way
from .schemas import AssertedCredential
from .showing import STEP_UP, PasskeyProofs


def by_passkey(proofs: PasskeyProofs) -> Way:
    """Who is in shows one of theirs once more."""

    def show(caller: Caller, given: Mapping[str, Any], _address: str) -> str:
        try:
            credential = instance(AssertedCredential).load(given)
        except ValidationError:
            # The route is there without this room too, and knows nothing of what is in it.
            raise Invalid.about("credential", "Not what a browser makes of a passkey.") from None
        proofs.check(credential, STEP_UP, caller.account.id)
        return PASSKEY

    return show
