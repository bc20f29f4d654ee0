"""The blueprint of this room, whose routes stand in several files."""

from __future__ import annotations

from ...core.web.blueprint import Blueprint
from .authenticators import Authenticators

blueprint = Blueprint(
    "mfa",
    __name__,
    needs=Authenticators,
    about="Second factors, recovery codes and trusted devices",
)
