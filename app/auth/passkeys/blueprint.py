"""The blueprint of this room, whose routes stand in several files."""

from __future__ import annotations

from ...core.web.blueprint import Blueprint
from .sign_in import PasskeyLogin

blueprint = Blueprint(
    "passkeys", __name__, needs=PasskeyLogin, about="Passkeys: adding one, and signing in by it"
)
