from __future__ import annotations

from ..caller import Caller
from ..errors import InvalidProof
from ..limits import Failures
from ..sign_in.proof import MAILED_CODE
from ..step_up.service import Way
from .codes import LoginCodes


def by_mailed_code(codes: LoginCodes, failures: Failures) -> Way:
    """Who is in shows once more that they read the mail of their account."""

    def show(caller: Caller, given: tuple[str, str], address: str) -> str:
        login_id, code = given
        try:
            codes.use(login_id, code, only=caller.account)
        except InvalidProof:
            failures.count(caller.account.email, address)
            raise
        return MAILED_CODE

    return show
