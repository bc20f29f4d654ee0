"""The blueprint of this room, whose routes stand in several files."""

from __future__ import annotations

from ...core.web.blueprint import Blueprint
from .service import LoginByCode

blueprint = Blueprint(
    "login_codes",
    __name__,
    needs=LoginByCode,
    about="Signing in by a code that is mailed",
    remedy="switch AUTH.LOGIN_BY_CODE on.",
)
