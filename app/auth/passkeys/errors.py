from __future__ import annotations

from ...core.errors import BadRequest, Conflict, Forbidden


class PasskeyRefused(BadRequest):
    """Unknown, wrongly signed, for another site, used, too old …: the log alone says which."""

    code = "passkey_refused"
    detail = "The passkey was refused"
    security_event = "sign_in"

    def __init__(self, why: str, **note: object) -> None:
        super().__init__(note={"why": why, **note})


class NewPasskeyRefused(PasskeyRefused):
    """As `PasskeyRefused`, where one would be added: nobody was to be signed in by it."""

    security_event = "entry"


class PasskeyTaken(Conflict):
    code = "passkey_exists"
    detail = "This passkey is registered already"


class AddressNotProven(Forbidden):
    """Whoever registers another's address must not be able to lock its owner out."""

    code = "email_not_verified"
    detail = "Verify your email address first"
