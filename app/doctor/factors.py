"""What the doctor finds about second factors."""

from __future__ import annotations

from collections.abc import Iterator

from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk
from .findings import Finding


def check_second_factors() -> Iterator[Finding]:
    auth = current_frontdesk.settings.of(AuthSettings)
    if auth.MFA == "off":
        return
    if not auth.ENCRYPTION_KEYS:
        text = (
            "AUTH__ENCRYPTION_KEYS is not set: the secrets of second factors are encrypted with"
            " SECRET_KEY, and with another one, its former gone from CORE__SECRET_KEY_FALLBACKS,"
            " nobody's can be checked"
        )
        yield Finding("second_factors", "warning", text)
    if not auth.RATE_LIMITS_ENABLED:
        text = "AUTH__RATE_LIMITS_ENABLED is off: a code has six digits, and can be guessed"
        yield Finding("second_factors", "warning", text)
