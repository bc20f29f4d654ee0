from __future__ import annotations

from typing import Any

from ...accounts.models import AccountLike
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


def make_door(context: Context, *elsewhere: str) -> CookieDoor:
    """`elsewhere`: further origins whose pages may ask with a cookie."""
    auth = context.settings.of(AuthSettings)
    door = CookieDoor(
        context.session,
        context.get(Sessions),
        Cookies(context.clock, auth.COOKIE_DOMAIN, auth.COOKIE_SAMESITE),
        CrossSiteCheck(frozenset(origin_of(url).lower() for url in elsewhere)),
    )
    context.add(door)
    return door


def assemble(context: Context) -> None:
    core = context.settings.core
    door = make_door(context, core.page_host, *core.CORS_ORIGINS)
    cookies = door.cookies
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
