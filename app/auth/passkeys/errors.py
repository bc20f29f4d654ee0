from __future__ import annotations

from ...core.errors import Conflict
from ..errors import PasskeyRefused


class NewPasskeyRefused(PasskeyRefused):
    """As `PasskeyRefused`, where one would be added: nobody was to be signed in by it."""

    security_event = "factor_change"


class PasskeyTaken(Conflict):
    code = "passkey_exists"
    detail = "This passkey is registered already"
