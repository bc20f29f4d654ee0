"""Check of multi-factor authentication."""

from collections.abc import Iterator

from ...core.context import current_frontdesk
from ...core.doctor import Check, Finding
from ..settings import AuthSettings


def check_second_factors() -> Iterator[Finding]:
    auth = current_frontdesk.settings.of(AuthSettings)
    if auth.MFA == "off":
        return
    if not auth.ENCRYPTION_KEYS:
        text = (
            "AUTH__ENCRYPTION_KEYS is not set, so MFA secrets are encrypted with SECRET_KEY. If"
            " SECRET_KEY changes and CORE__SECRET_KEY_FALLBACKS lacks the old key, no authenticator"
            " app works. Set AUTH__ENCRYPTION_KEYS."
        )
        yield Finding("second_factors", "warning", text)
    if not auth.RATE_LIMITS_ENABLED:
        text = (
            "AUTH__RATE_LIMITS_ENABLED is off, so attackers can guess the six-digit codes of"
            " authenticator apps. Set AUTH__RATE_LIMITS_ENABLED=true."
        )
        yield Finding("second_factors", "warning", text)


CHECKS = (Check(check_second_factors),)
