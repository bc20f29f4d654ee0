from datetime import timedelta

from flask import Request

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import Context, Pruner
from ...core.types import JsonObject
from ...core.web.operation import AuthScheme
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ..actions import LOGGED_OUT
from ..caller import Caller
from ..cross_site import CrossSite, CrossSiteCheck, allowed_origins
from ..features import CookieFeature, SessionFeature
from ..settings import AuthSettings
from ..sign_in.options import COOKIE_CREDENTIAL
from ..sign_in.policy import SignInPolicy
from .cookie_sessions import CookieSessions
from .cookies import PLAIN_NAME, Cookies
from .management import SessionManagement
from .models import AccountSession
from .refresh import Refresh
from .refresh_token import RefreshTokens
from .rows import SessionRows
from .schemas import UnsupportedGrant
from .service import Renewal, Sessions, prune_sessions


def assemble(context: Context) -> None:
    """Add the sessions table, and the services that store, list, refresh and end sessions."""
    auth = context.settings.of(AuthSettings)
    session, clock = context.session, context.clock
    only_pages = not auth.keeps_sessions
    context.tables.add(AccountSession)
    context.provide(Sessions, _sessions, for_pages=only_pages)
    context.provide(SessionFeature, _feature)
    management = SessionManagement(session, clock, auth.session_limits)
    context.add(management, for_pages=only_pages)
    context.contribute(Pruner("sessions", lambda: prune_sessions(session, clock)))
    if auth.keeps_cookies:
        _assemble_cookie(context, auth)
    if auth.REFRESH_TOKEN_DAYS:
        context.provide(Refresh, _refresh)
    else:
        context.mark_unavailable(UnsupportedGrant, Refresh)


def _sessions(context: Context) -> Sessions:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    rows = SessionRows(accounts.rows, accounts.model, auth.session_limits)
    settings = context.settings
    refresh_tokens = RefreshTokens(settings.secret_key, settings.former_secret_keys)
    return Sessions(context.session, rows, context.clock, auth, refresh_tokens)


def _feature(context: Context) -> SessionFeature:
    auth = context.settings.of(AuthSettings)
    token_life = timedelta(minutes=auth.ACCESS_TOKEN_EXPIRE_MINUTES)
    renewal = Renewal(context.session, context.clock, token_life, auth.session_limits.longest)
    cookie = _cookie_feature(context) if auth.keeps_cookies else None
    return SessionFeature(context.get(Sessions), auth.keeps_sessions, renewal.renew, cookie)


def _refresh(context: Context) -> Refresh:
    return Refresh(
        context.basics,
        context.get(Accounts),
        context.get(SignInPolicy),
        context.get(Sessions).refresh_tokens,
        context.get(Templates),
        context.get(OwnerMail),
        context.settings.of(AuthSettings),
    )


def _assemble_cookie(context: Context, auth: AuthSettings) -> None:
    only_pages = auth.COOKIE_SESSIONS == "alone"
    cookies = Cookies(context.clock, auth.COOKIE_DOMAIN, auth.COOKIE_SAMESITE)
    context.add(cookies)
    context.provide(CookieSessions, _cookie_sessions, for_pages=only_pages)

    def signed_out(account: AccountLike, _: JsonObject) -> None:
        cookie_sessions = context.get(CookieSessions)
        cookie_sessions.forget_after_logout(account)
        if not auth.keeps_sessions:
            # The next sign-in makes tokens valid again, but never a session cookie.
            cookie_sessions.end_all(account)

    context.actions.on(LOGGED_OUT.name, signed_out)
    if not only_pages:
        context.contribute(_cookie_in_documents(context, cookies))


def _cookie_sessions(context: Context) -> CookieSessions:
    only_pages = context.settings.of(AuthSettings).COOKIE_SESSIONS == "alone"
    # Pages of other origins, such as the client's, call only the API.
    allowed = frozenset[str]() if only_pages else allowed_origins(context.settings.core)
    sessions, cookies = context.get(Sessions), context.get(Cookies)
    return CookieSessions(context.session, sessions, cookies, CrossSiteCheck(allowed))


def _cookie_feature(context: Context) -> CookieFeature:
    cookie_sessions = context.get(CookieSessions)
    if context.settings.of(AuthSettings).COOKIE_SESSIONS != "alone":
        return CookieFeature(cookie_sessions.read, cookie_sessions.set_cookie)

    def read_on_pages(request: Request, optional: bool) -> Caller | None:
        # Called for every request without a token; few requests are for pages.
        if "HTTP_COOKIE" not in request.environ or context.mounted.pages.isdisjoint(
            request.blueprints
        ):
            return None
        return cookie_sessions.read(request, optional)

    return CookieFeature(read_on_pages, cookie_sessions.set_cookie)


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
