"""The rooms of authentication that most applications do without, each loaded where it is switched
on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.config.environment import SettingsError
from ..core.context import Context
from .settings import AuthSettings
from .step_up.service import Renew
from .tokens.access import AMR

if TYPE_CHECKING:
    from .sessions.models import AccountSession
    from .sessions.service import Sessions


def check_rooms(auth: AuthSettings, public_url: str | None) -> None:
    """What is set and does nothing by itself was meant otherwise."""
    if auth.keeps_cookies:
        _check_domain(auth.COOKIE_DOMAIN, public_url)
    if auth.REFRESH_TOKEN_DAYS and not auth.keeps_sessions:
        raise SettingsError("AUTH.REFRESH_TOKEN_DAYS is set, so AUTH.SESSIONS must be on.")
    if auth.MFA == "off" and auth.MFA_REQUIRED_ROLES:
        raise SettingsError("AUTH.MFA is off, so MFA_REQUIRED_ROLES asks nobody: set `optional`.")
    if auth.MFA != "off" and not auth.MFA_METHODS:
        raise SettingsError(f"AUTH.MFA is `{auth.MFA}`, so MFA_METHODS must name one at least.")


def _check_domain(domain: str, public_url: str | None) -> None:
    """A browser passes over a cookie for a domain that its server is not in, and says nothing."""
    host = urlsplit(public_url or "").hostname
    if domain and host and not f".{host}".endswith(f".{domain.lower().lstrip('.')}"):
        raise SettingsError(
            f"AUTH.COOKIE_DOMAIN is {domain}, and CORE.PUBLIC_URL is not under it: {public_url}."
        )


def told(auth: AuthSettings) -> frozenset[str]:
    """What tokens tell of a sign-in, and no hook of a host's can."""
    if auth.keeps_sessions:
        return frozenset((AMR, "auth_time", "sid"))
    return frozenset((AMR,)) if auth.keeps_authenticators else frozenset()


def open_sessions(context: Context) -> Sessions:
    from .sessions.assembly import assemble

    return assemble(context)


def renewal(context: Context, auth: AuthSettings, token_life: timedelta) -> Renew:
    longest = auth.session_limits.longest

    def renew(row_id: Any, by: tuple[str, ...]) -> AccountSession | None:
        from .sessions.service import Renewal

        return Renewal(context.session, context.clock, token_life, longest).renew(row_id, by)

    return renew


def assemble_rooms(context: Context, auth: AuthSettings) -> None:
    if auth.keeps_sessions:
        from .sessions.assembly import furnish

        furnish(context)
    if auth.COOKIE_SESSIONS == "on":
        from .sessions.assembly import assemble_cookies

        assemble_cookies(context)
    elif auth.keeps_cookies:
        from .sessions.alone import assemble as assemble_cookies_alone

        assemble_cookies_alone(context)
    if auth.keeps_authenticators:
        from .mfa.assembly import assemble as assemble_mfa

        assemble_mfa(context)
    if auth.takes_passkeys:
        from .passkeys.assembly import assemble as assemble_passkeys

        assemble_passkeys(context)
    if auth.LOGIN_BY_CODE == "on":
        from .login_codes.service import assemble as assemble_login_codes

        assemble_login_codes(context)
