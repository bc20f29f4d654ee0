"""Time-based one-time codes (TOTP, RFC 6238): SHA-1, six digits, 30 seconds."""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime
from urllib.parse import quote, urlencode

from ..proofs import without_separators

STEP_SECONDS = 30
DIGITS = 6
SECRET_BYTES = 20
# Accepted time steps next to the current one: clocks of phones differ, and people type slowly.
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
    current = int(now.timestamp()) // STEP_SECONDS
    typed = without_separators(code).encode()
    found = None
    for difference in TOLERANCE:
        # Every step is compared, so that the response time reveals nothing.
        if hmac.compare_digest(code_at(secret, current + difference).encode(), typed):
            found = current + difference if found is None else found
    return found


def as_base32(secret: bytes) -> str:
    """Return the secret as users type it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def uri(secret: bytes, issuer: str, email: str) -> str:
    """Return the content of the QR code: apps show the issuer and the email address."""
    # A colon separates the issuer from the address.
    issuer = issuer.replace(":", " ")
    label = quote(f"{issuer}:{email}", safe="@")
    parameters = {
        "secret": as_base32(secret),
        "issuer": issuer,
        "digits": DIGITS,
        "period": STEP_SECONDS,
    }
    return f"otpauth://totp/{label}?{urlencode(parameters, quote_via=quote)}"


def qr_code(text: str) -> str:
    """Return an SVG for a page: black on white, also on dark pages."""
    import segno

    code = segno.make(text, micro=False, error="m")
    svg: str = code.svg_inline(omitsize=True, light="#fff", svgclass=None, lineclass=None)
    return svg
