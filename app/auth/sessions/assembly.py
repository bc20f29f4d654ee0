from datetime import timedelta

from flask import Request

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import Context, Pruner
from ...core.types import JsonObject
from ...core.web.operation import AuthScheme
from ...core.web.request_hooks import origin_of
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ..actions import LOGGED_OUT
from ..caller import Caller
from ..features import CookieFeature, SessionFeature
from ..settings import AuthSettings
from ..sign_in.options import COOKIE_CREDENTIAL
from ..sign_in.policy import SignInPolicy
from .cookie_sessions import CookieSessions
from .cookies import PLAIN_NAME, Cookies, CrossSite, CrossSiteCheck
from .management import SessionManagement
from .models import AccountSession
from .refresh import Refresh, SessionMails
from .refresh_token import RefreshTokens
from .rows import SessionRows
from .schemas import UnsupportedGrant
from .service import Renewal, Sessions, prune_sessions


def assemble_store(context: Context) -> None:
    """Add the sessions table and its services, before the services that sign in."""
    context.tables.add(AccountSession)
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    rows = SessionRows(accounts.rows, accounts.model, auth.session_limits)
    settings = context.settings
    refresh_tokens = RefreshTokens(settings.secret_key, settings.former_secret_keys)
    session, clock = context.session, context.clock
    sessions = Sessions(session, rows, clock, auth, refresh_tokens)
    token_life = timedelta(minutes=auth.ACCESS_TOKEN_EXPIRE_MINUTES)
    renewal = Renewal(session, clock, token_life, auth.session_limits.longest)
    context.add(sessions, for_pages=not auth.keeps_sessions)
    cookie = _assemble_cookie(context, auth) if auth.keeps_cookies else None
    context.add(SessionFeature(sessions, auth.keeps_sessions, renewal.renew, cookie))


def assemble(context: Context) -> None:
    """Add the services that list, refresh and end sessions."""
    auth = context.settings.of(AuthSettings)
    session, clock = context.session, context.clock
    management = SessionManagement(session, clock, auth.session_limits)
    context.add(management, for_pages=not auth.keeps_sessions)
    context.contribute(Pruner("sessions", lambda: prune_sessions(session, clock)))
    if not auth.REFRESH_TOKEN_DAYS:
        context.mark_unavailable(UnsupportedGrant, Refresh)
        return
    context.add(
        Refresh(
            context.basics,
            context.get(Accounts),
            context.get(SignInPolicy),
            context.get(Sessions).refresh_tokens,
            SessionMails(context.get(Templates)),
            context.get(OwnerMail),
            auth,
        )
    )


def _assemble_cookie(context: Context, auth: AuthSettings) -> CookieFeature:
    core, only_pages = context.settings.core, auth.COOKIE_SESSIONS == "alone"
    # Origins of pages that may send the cookie, next to the application's own.
    elsewhere = [] if only_pages else [core.page_host, *core.CORS_ORIGINS]
    cookies = Cookies(context.clock, auth.COOKIE_DOMAIN, auth.COOKIE_SAMESITE)
    cookie_sessions = CookieSessions(
        context.session,
        context.get(Sessions),
        cookies,
        CrossSiteCheck(frozenset(origin_of(url).lower() for url in elsewhere)),
    )
    context.add(cookie_sessions, for_pages=only_pages)

    def read_on_pages(request: Request, optional: bool) -> Caller | None:
        # Called for every request without a token; few requests are for pages.
        if "HTTP_COOKIE" not in request.environ or context.mounted.pages.isdisjoint(
            request.blueprints
        ):
            return None
        return cookie_sessions.read(request, optional)

    def signed_out(account: AccountLike, _: JsonObject) -> None:
        cookie_sessions.forget_after_logout(account)
        if not auth.keeps_sessions:
            # The next sign-in makes tokens valid again, but never a session cookie.
            cookie_sessions.end_all(account)

    context.actions.on(LOGGED_OUT.name, signed_out)
    if only_pages:
        return CookieFeature(read_on_pages, cookie_sessions.set_cookie)
    context.contribute(_cookie_in_documents(context, cookies))
    return CookieFeature(cookie_sessions.read, cookie_sessions.set_cookie)


def _cookie_in_documents(context: Context, cookies: Cookies) -> AuthScheme:
    return AuthScheme(
        COOKIE_CREDENTIAL,
        lambda: {
            "type": "apiKey",
            "in": "cookie",
            "name": PLAIN_NAME if context.app.debug else cookies.usual_name,
        },
        (CrossSite,),
    )
