from __future__ import annotations

from typing import Any

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import Context
from ...core.web.envelope import origin_of
from ...core.web.operation import WayIn
from ...delivery.mail.one_off import OneOffMail, Untold
from ...delivery.mail.templates import Templates
from ..caller import Callers
from ..settings import AuthSettings
from ..sign_in.attempt import COOKIE_WAY
from ..sign_in.gate import Gate
from ..sign_in.log_out import LOGGED_OUT
from .cookie_door import CookieDoor
from .cookies import PLAIN_NAME, Cookies, CrossSite, CrossSiteCheck
from .models import AccountSession
from .own import OwnSessions
from .reading import SessionRows
from .refresh import Refresh, SessionMails
from .refresh_token import RefreshTokens
from .schemas import UnsupportedGrant
from .service import Sessions


def assemble(context: Context) -> Sessions:
    """What the gate and the readers of credentials need."""
    context.bring(AccountSession)
    # A token must not come back to life with the status; a session has no other end then.
    context.get(Accounts).ends_tokens_of_inactive = True
    return make_sessions(context)


def make_sessions(context: Context) -> Sessions:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    rows = SessionRows(accounts.rows, accounts.model, auth.session_limits)
    fallbacks = [key.get_secret_value() for key in context.settings.core.SECRET_KEY_FALLBACKS]
    refresh_tokens = RefreshTokens(context.settings.secret_key, fallbacks)
    sessions = Sessions(context.session, rows, context.clock, auth, refresh_tokens)
    context.add(sessions)
    return sessions


def furnish(context: Context) -> None:
    """What its routes and commands need; most of that stands behind the gate."""
    auth = context.settings.of(AuthSettings)
    context.add(OwnSessions(context.session, context.clock, auth.session_limits))
    if not auth.REFRESH_TOKEN_DAYS:
        context.lack(UnsupportedGrant, Refresh)
        return
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    context.add(
        Refresh(
            context.session,
            context.get(Accounts),
            context.get(Gate),
            context.get(Sessions).refresh_tokens,
            SessionMails(context.settings.core, context.get(Templates)),
            one_off_mail if auth.SECURITY_MAILS else Untold(),
            context.clock,
            auth,
        )
    )


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


def assemble_cookies(context: Context) -> None:
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
