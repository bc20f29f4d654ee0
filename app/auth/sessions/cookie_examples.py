"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..examples import ACCOUNT

SIGN_IN = {"email": "ada@example.com", "password": "correct horse battery"}
SESSION = {"account": ACCOUNT, "expires": "2030-01-31T12:00:00+00:00"}
SIGNED_OUT = {"message": "Signed out"}
