"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..auth.examples import EMAIL, TOKEN

REGISTRATION = {"email": EMAIL, "password": "correct horse"}
REGISTERED = {"message": "Check your email to finish registering"}
PROOF = TOKEN
PROVEN = {"message": "Email verified"}
ADDRESS = {"email": EMAIL}
MAILED = {"message": "If this address waits to be verified, a mail is on its way"}
