from __future__ import annotations

import logging
from typing import ClassVar

from ..core.errors import Conflict, Invalid, NotFound, Problem, Unavailable

log = logging.getLogger(__name__)

REMEDY = "pass account_model=, a mapped class with AccountMixin, to frontdesk.init_app."


class AccountModelMissing(Problem):
    """The response names the problem; the log says how to fix it."""

    code = "account_model_missing"
    detail = "Account model is not configured"
    remedy: ClassVar[str] = f"The account model is not configured: {REMEDY}"

    def __init__(self) -> None:
        super().__init__()
        log.error("%s", self.remedy)


class AccountNotFound(NotFound):
    code = "account_not_found"
    detail = "Account not found"


class EmailTaken(Conflict):
    code = "email_taken"
    detail = "An account with this email already exists"


class InvalidEmail(Invalid):
    code = "invalid_email"
    detail = "Not a valid email address"


class InvalidPhone(Invalid):
    code = "invalid_phone"
    detail = "Not a valid phone number; write it with + and the country code"


class UnfitPassword(Invalid):
    code = "unfit_password"
    detail = "The password cannot be used"


class TooManyHashes(Unavailable):
    code = "busy"
    detail = "Too many sign-ins at once"
    security_event = "limit"
