from __future__ import annotations

from typing import Any

from ...core.context import service
from ..blueprint import address
from ..sign_in.gate import Challenge, Opened
from .schemas import SHOWN
from .sign_in import SecondStep


def finish(json: dict[str, Any]) -> Opened | Challenge:
    """With what `SecondStepForm` has read."""
    [field] = SHOWN.keys() & json.keys()
    step, trust = service(SecondStep), json["trust"]
    return step.finish(json["mfa_token"], SHOWN[field], json[field], address(), trust=trust)
