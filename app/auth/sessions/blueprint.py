"""The blueprint of this room, whose routes stand in several files."""

from __future__ import annotations

from ...core.web.blueprint import Blueprint
from .service import Sessions

blueprint = Blueprint(
    "sessions",
    __name__,
    needs=Sessions,
    about="Where an account is signed in, and ending that",
    remedy="switch AUTH.SESSIONS on.",
)
