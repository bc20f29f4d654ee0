"""Sign-in by a session cookie, and the caller of a request with one."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from secrets import token_bytes

from flask import Request, has_request_context, request
from sqlalchemy import ColumnElement, Update, select, update

from ...accounts.models import AccountLike
from ...core.actions import Target
from ...core.context import report_action, service
from ...core.db.transaction import AnySession, after_commit, execute_bulk, transaction
from ...core.types import AccountKey
from ...core.web.operation import SAFE_METHODS
from ..actions import SESSION_ENDED
from ..caller import Caller, caller, caller_of, known_caller
from ..cross_site import CrossSite, CrossSiteCheck
from ..decorators import guard
from ..errors import InvalidCredentials, LoggedOut
from ..sign_in.options import COOKIE_CREDENTIAL, request_cookie
from ..sign_in.policy import SignInResult
from .cookies import Cookies, SessionCookie
from .management import BY_OWNER
from .models import COOKIE, SECRET_BYTES, AccountSession
from .rows import SessionRow
from .service import Sessions

# Why a session ended: a new sign-in in its browser, or a sign-out everywhere.
BY_SIGN_IN = "replaced"
BY_LOGOUT = "logout"


@dataclass(eq=False)
class CookieSessions:
    session: AnySession
    sessions: Sessions
    cookies: Cookies
    cross_site: CrossSiteCheck

    def read(self, request: Request, optional: bool) -> Caller | None:
        """Return the caller of the session cookie, None without one; raise if it has ended.

        Where the caller is optional, a cookie that has ended is deleted instead.
        """
        try:
            return self._read(request)
        except (InvalidCredentials, LoggedOut):
            if not optional:
                raise
            self.cookies.delete()
            return None

    def _read(self, request: Request) -> Caller | None:
        """Reject a request from a page of another site unless its method is safe."""
        cookie = self.cookies.read(request)
        if cookie is None:
            return None
        account, found, ended = self.sessions.rows.of_cookie(cookie.public_id)
        if (
            account is None
            or found is None
            or found.kind != COOKIE
            or not compare_digest(cookie.digest, found.secret)
        ):
            raise InvalidCredentials
        if ended:
            raise InvalidCredentials(reason=ended)
        if account.logged_out_at is not None:
            raise LoggedOut(note={"account_id": account.id})
        if request.method not in SAFE_METHODS:
            self.cross_site.check(request, {"account_id": account.id})
        self.sessions.use(found)
        return caller_of(found, account, COOKIE_CREDENTIAL, found.expires_at.timestamp())

    def find_caller(self) -> Caller | None:
        """Return the caller of this request's cookie, or None without a valid one."""
        return self.read(request, True)

    def is_sent(self, request: Request) -> bool:
        """Return whether the request has a session cookie, valid or not."""
        return self.cookies.name(request) in request.cookies

    def find_account_id(self, request: Request) -> AccountKey | None:
        """Return the account's id of a session cookie, even if the session has ended: the page of
        the error shows why it ended."""
        cookie = None
        with suppress(InvalidCredentials):
            cookie = self.cookies.read(request)
        if cookie is None:
            return None
        return self.session.scalar(
            select(AccountSession.account_id).where(AccountSession.kind == COOKIE, *_holds(cookie))
        )

    def set_cookie(self, result: SignInResult) -> None:
        """Set the cookie of a new session, within the transaction of the sign-in. The browser's
        former session ends, which may be another user's. A re-authentication keeps the session."""
        session, secret = result.session, result.secret
        if session is None or session.kind != COOKIE:
            return
        if secret is None:
            self.rotate(session)
            return
        self.end_current(BY_SIGN_IN)
        cookie, expires_at = SessionCookie(session.public_id, secret), session.expires_at
        after_commit(self.session, lambda: self.cookies.set(cookie, expires_at))

    def prepare_sign_in(self) -> None:
        """Make sign-ins of this request set a session cookie. Pages of other sites are rejected:
        they could sign a visitor in to another account, which would collect the visitor's data."""
        self.cross_site.check(request, {"event": "sign_in"})
        request_cookie()

    def sign_out(self) -> None:
        """End the session of the request's cookie, and delete the cookie in any case."""
        self.cross_site.check(request)
        self.end_current(BY_OWNER)
        self.cookies.delete()

    def forget_after_logout(self, account: AccountLike) -> None:
        """Delete the caller's cookie after a sign-out everywhere: it is no longer valid."""
        caller = known_caller()
        if (
            caller is not None
            and caller.via == COOKIE_CREDENTIAL
            and caller.account.id == account.id
        ):
            after_commit(self.session, self.cookies.delete)

    def end_all(self, account: AccountLike) -> None:
        """End the account's cookie sessions, within the transaction of a logout. The audit log has
        an entry of the logout alone."""
        statement = _ending(self.sessions.clock.now(), BY_LOGOUT)
        execute_bulk(self.session, statement.where(AccountSession.account_id == account.id))

    def rotate(self, found: SessionRow | AccountSession) -> None:
        """Replace the secret of a session after re-authentication: a copy of the former cookie
        becomes invalid."""
        if found.kind != COOKIE:
            return
        secret = token_bytes(SECRET_BYTES)
        cookie = SessionCookie(found.public_id, secret)
        with transaction(self.session) as session:
            unchanged = (AccountSession.id == found.id, AccountSession.secret == found.secret)
            renewed = update(AccountSession).where(*unchanged).values(secret=cookie.digest)
            # Of two simultaneous requests, the first sets the cookie.
            if execute_bulk(session, renewed).rowcount:
                after_commit(session, lambda: self.cookies.set(cookie, found.expires_at))

    def end_current(self, reason: str) -> None:
        """End the session of the request's cookie, if the cookie is valid."""
        cookie = None
        if has_request_context():
            with suppress(InvalidCredentials):
                cookie = self.cookies.read(request)
        if cookie is None:
            return
        with transaction(self.session) as session:
            statement = _ending(self.sessions.clock.now(), reason).where(*_holds(cookie))
            account_id = execute_bulk(
                session, statement.returning(AccountSession.account_id)
            ).scalar()
            if account_id is not None:
                target = Target("session", str(cookie.public_id))
                kind = SESSION_ENDED
                report_action(session, kind, account_id=account_id, target=target, reason=reason)


def _ending(at: datetime, reason: str) -> Update:
    """Return an UPDATE that ends cookie sessions."""
    return (
        update(AccountSession)
        .where(AccountSession.kind == COOKIE, AccountSession.ended_at.is_(None))
        .values(ended_at=at, end_reason=reason)
    )


def _holds(cookie: SessionCookie) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of the cookie's session."""
    return AccountSession.public_id == cookie.public_id, AccountSession.secret == cookie.digest


@guard(CrossSite, bearer=False)
def signs_in_by_cookie() -> None:
    """The route signs in by cookie: `sign_in_options` asks for one, other sites are rejected.

    Written below `@anyone` at a route with `only_with=CookieSessions`.
    """
    service(CookieSessions).prepare_sign_in()


def forget_cookie() -> None:
    """Delete the session cookie, if the caller of this request has one: the session has ended."""
    if caller().via == COOKIE_CREDENTIAL:
        service(CookieSessions).cookies.delete()
