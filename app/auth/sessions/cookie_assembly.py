from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ...accounts.models import AccountLike
from ...core.config.environment import SettingsError
from ...core.context import Context
from ...core.web.envelope import origin_of
from ...core.web.operation import WayIn
from ..caller import Callers
from ..settings import AuthSettings
from ..sign_in.entrance import COOKIE_WAY
from ..sign_in.gate import Gate
from ..sign_in.log_out import LOGGED_OUT
from .cookie_door import CookieDoor
from .cookies import PLAIN_NAME, Cookies
from .cross_site import CrossSite, CrossSiteCheck
from .service import Sessions


def assemble(context: Context) -> None:
    core, auth = context.settings.core, context.settings.of(AuthSettings)
    _check_domain(auth.COOKIE_DOMAIN, core.PUBLIC_URL)
    cookies = Cookies(context.clock, auth.COOKIE_DOMAIN, auth.COOKIE_SAMESITE)
    ours = [core.CLIENT_HOST, *core.CORS_ORIGINS, *filter(None, [core.PUBLIC_URL])]
    door = CookieDoor(
        context.session,
        context.get(Sessions),
        cookies,
        CrossSiteCheck(frozenset(origin_of(url).lower() for url in ours)),
    )
    context.add(door)
    # After the header's: whoever sends one is asked for nothing else.
    context.get(Callers).readers.append(door.read)
    context.get(Gate).opened.append(door.opened)

    def forget(account: AccountLike, _: dict[str, Any]) -> None:
        door.logged_out(account)

    context.emitter.on(LOGGED_OUT, forget)
    context.ways_in.append(
        WayIn(
            COOKIE_WAY,
            lambda: {
                "type": "apiKey",
                "in": "cookie",
                "name": PLAIN_NAME if context.app.debug else cookies.usual_name,
            },
            (CrossSite,),
        )
    )


def _check_domain(domain: str, public_url: str | None) -> None:
    """A browser passes over a cookie for a domain that its server is not in, and says nothing."""
    host = urlsplit(public_url or "").hostname
    if domain and host and not f".{host}".endswith(f".{domain.lower().lstrip('.')}"):
        raise SettingsError(
            f"AUTH.COOKIE_DOMAIN is {domain}, and CORE.PUBLIC_URL is not under it: {public_url}."
        )
