"""One-time codes by the clock (RFC 6238), as authenticator apps show them: SHA-1, six digits,
thirty seconds."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
SECRET_BYTES = 20
# Phones' clocks differ from ours, and people type slowly: one step on either side counts too.
TOLERANCE = (0, -1, 1)


def new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def code_at(secret: bytes, step: int, digits: int = DIGITS) -> str:
    digest = hmac.new(secret, step.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}d}"


def step_of(secret: bytes, code: str, now: datetime) -> int | None:
    """Return the time step of a code, or None for a code that is not valid now."""
    present = int(now.timestamp()) // STEP_SECONDS
    typed = code.replace(" ", "").encode()
    found = None
    for difference in TOLERANCE:
        # Every step is compared, so that the response time reveals nothing.
        if hmac.compare_digest(code_at(secret, present + difference).encode(), typed):
            found = present + difference if found is None else found
    return found


def shown(secret: bytes) -> str:
    """For who types it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def uri(secret: bytes, issuer: str, email: str) -> str:
    """What the QR code says: apps list it by the issuer's name and the account's."""
    # The colon is what parts the two.
    issuer = issuer.replace(":", " ")
    label = quote(f"{issuer}:{email}", safe="@")
    facts = {"secret": shown(secret), "issuer": issuer, "digits": DIGITS, "period": STEP_SECONDS}
    return f"otpauth://totp/{label}?{urlencode(facts, quote_via=quote)}"


def qr_code(text: str) -> str:
    """Return an SVG for a page: black on white, also in dark pages."""
    import segno

    made = segno.make(text, micro=False, error="m")
    svg: str = made.svg_inline(omitsize=True, light="#fff", svgclass=None, lineclass=None)
    return svg
