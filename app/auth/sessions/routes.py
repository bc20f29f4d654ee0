"""Routes of sessions: sign-in by cookie, refresh of a token, list and end of sessions."""

from collections.abc import Sequence

from ...accounts.errors import TooManyHashes
from ...core.context import service
from ...core.types import JsonObject
from ...core.web.blueprint import Blueprint
from ...core.web.fields import Page
from ...core.web.operation import anyone, example, raises, variables
from ...core.web.pages import clear_browser_cache
from ...core.web.request_data import takes
from ...core.web.responses import answers
from ..caller import caller
from ..cross_site import CrossSite
from ..decorators import account_required, passwords_required, raises_sign_in_problems
from ..errors import INACTIVE_PROBLEMS, IncorrectCredentials, InvalidCredentials, TooManyAttempts
from ..provider_logout import SignedOut, SignOutAtProvider, provider_logout
from ..schemas import login_read
from ..sign_in.options import sign_in_options
from ..sign_in.password import Login
from ..sign_in.policy import response_payload
from . import schemas
from .cookie_sessions import CookieSessions, forget_cookie, signs_in_by_cookie
from .management import OwnSession, SessionManagement
from .refresh import Refresh
from .service import Sessions

_REFRESH = """\
# Sign in with the header `Prefer: refresh`: the response has `refresh_token` too.
refresh_token=…
curl "$server{refresh}" -d grant_type=refresh_token -d "refresh_token=$refresh_token"
# The response has the next `access_token` and `refresh_token`.
"""
blueprint = Blueprint(
    "sessions",
    __name__,
    needs=Sessions,
    about="Sessions, refresh tokens and cookie sign-in",
    flow=("Refresh an access token", _REFRESH),
    remedy="set AUTH.SESSIONS to `on`.",
)


@blueprint.get("/sessions")
@account_required
@example(answer=[schemas.SESSION])
@takes(query=Page)
@answers(200, schemas.SessionRead, paged=True)
def list_sessions(query: Page.Input) -> Sequence[OwnSession]:
    """List the caller's sessions

    Returns the newest first.
    """
    return service(SessionManagement).list(caller(), caller().account, **query)


@blueprint.delete("/sessions")
@account_required
@example(answer=schemas.ENDED)
@takes(query=schemas.EndSessions)
@answers(200, schemas.EndedSessions)
def end_sessions(query: schemas.EndSessions.Input) -> dict[str, int]:
    """End the caller's sessions

    Ends all sessions. With `others=true`, the session that sends the request stays.
    """
    ended = service(SessionManagement).end_all(caller(), others=query["others"])
    if not query["others"]:
        forget_cookie()
    return {"ended": ended}


@blueprint.delete("/sessions/<session_id>")
@account_required
@variables(session_id="ID of a session from `GET /sessions`.")
@example(answer=schemas.SESSION)
@raises(schemas.SessionNotFound)
@answers(200, schemas.SessionRead)
def end_session(session_id: str) -> OwnSession:
    """End a session

    Signs the device out immediately and returns the ended session.
    """
    ended = service(SessionManagement).end(caller(), caller().account, session_id)
    if ended.current:
        forget_cookie()
    return ended


REFRESH_TOKEN = "refresh_token"


@blueprint.post("/token")
@anyone
@example(form=schemas.GRANT, answer=schemas.REFRESHED)
@raises(schemas.InvalidGrant, schemas.UnsupportedGrant)
@takes(form=schemas.Grant)
@answers(200, login_read)
def refresh(form: schemas.Grant.Input) -> JsonObject:
    """Refresh an access token

    Returns a new access token and a new refresh token. A refresh token that is used again after
    `AUTH__REFRESH_REUSE_SECONDS` ends the session, because it may be stolen.
    """
    if form["grant_type"] != REFRESH_TOKEN:
        raise schemas.UnsupportedGrant
    return service(Refresh).exchange(form["refresh_token"])


@blueprint.post("/session", only_with=CookieSessions)
@passwords_required
@anyone
@signs_in_by_cookie
@raises_sign_in_problems
@example(json=schemas.COOKIE_SIGN_IN, answer=schemas.COOKIE_SESSION)
@raises(IncorrectCredentials, *INACTIVE_PROBLEMS)
@raises(TooManyAttempts, TooManyHashes)
@takes(json=schemas.CookieSignIn)
@answers(200, schemas.cookie_session_read)
def open_cookie_session(json: schemas.CookieSignIn.Input) -> JsonObject:
    """Sign in with a cookie session

    Sets a session cookie instead of returning an access token.
    """
    options = sign_in_options(otp=json["otp"])
    return response_payload(service(Login).with_password(json["email"], json["password"], options))


@blueprint.get("/session", only_with=CookieSessions)
@account_required
@example(answer=schemas.COOKIE_SESSION)
@answers(200, schemas.cookie_session_read)
def get_cookie_session() -> JsonObject:
    """Get the current cookie session

    Returns the signed-in account and the end of the session.
    """
    found = caller()
    if found.session is None:
        raise InvalidCredentials
    return {"account": found.attached_account, "expires": found.session.expires_at}


@blueprint.delete("/session", only_with=CookieSessions)
@anyone
@example(answer=schemas.SIGNED_OUT)
@raises(CrossSite)
@takes(query=SignOutAtProvider)
@answers(200, SignedOut)
def close_cookie_session(query: SignOutAtProvider.Input) -> JsonObject:
    """Sign out of a cookie session

    Ends the session of this browser and deletes its cookie.
    """
    sessions = service(CookieSessions)
    provider = provider_logout(sessions.find_caller) if query["provider"] else dict
    sessions.sign_out()
    clear_browser_cache()
    return {"message": "Signed out", **provider()}
