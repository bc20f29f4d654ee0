from __future__ import annotations

from ..caller import Caller
from ..sign_in.proof import MAILED_CODE
from ..step_up.service import Way
from .codes import LoginCodes


def by_mailed_code(codes: LoginCodes) -> Way:
    """Who is in shows once more that they read the mail of their account."""

    def show(caller: Caller, given: tuple[str, str], _address: str) -> str:
        login_id, code = given
        codes.use(login_id, code, only=caller.account)
        return MAILED_CODE

    return show
