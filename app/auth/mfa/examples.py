"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..examples import SIGNED_IN

MFA_TOKEN = "W1siMSIsWyJwYXNzd29yZCJdXV0.aXQgaXM.c2lnbmVk"
SECOND_STEP = {"mfa_token": MFA_TOKEN, "otp": "287082", "trust": True}
TRUSTED = {**SIGNED_IN, "trusted_device": "b3Blbi1zZXNhbWUtb3Blbi1zZXNhbWUtb3Blbi1zZXM"}
BEGIN = {"name": "Phone"}
APP = {
    "id": 1,
    "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "uri": "otpauth://totp/Frontdesk%3Aada@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    "&issuer=Frontdesk&digits=6&period=30",
    "qr": '<svg viewBox="0 0 53 53"></svg>',
}
CONFIRM = {"otp": "287082"}
CODES = [f"{half}-k4f8" for half in ("7hqd", "m2xw", "9rta", "c6pn", "vb3e")]
ENROLLED = {**SIGNED_IN, "recovery_codes": CODES}
AUTHENTICATOR = {
    "id": 1,
    "kind": "totp",
    "name": "Phone",
    "created_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": "2030-01-02T09:30:00+00:00",
}
NAME = {"name": "Old phone"}
RENAMED = {**AUTHENTICATOR, **NAME}
RECOVERY_CODES = {"recovery_codes": CODES}
LEFT = {"left": 9}
DEVICE = {
    "id": 1,
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "ip": "192.0.2.0/24",
    "created_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": None,
    "expires_at": "2030-01-31T12:00:00+00:00",
}
RESET = {"authenticators": 2}
