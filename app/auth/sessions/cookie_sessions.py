"""Signing in by a cookie, and what a request shows that brings one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_bytes
from typing import Any

from flask import Request, has_request_context, request
from sqlalchemy import select, update

from ...accounts.models import AccountLike
from ...core.actions import Target
from ...core.context import report_action, service
from ...core.db.transaction import AnySession, after_commit, transaction
from ...core.web.operation import SAFE_METHODS
from ..actions import SESSION_ENDED
from ..caller import Caller, caller, caller_of, known_caller
from ..decorators import guard
from ..errors import InvalidCredentials, LoggedOut
from ..sign_in.options import COOKIE_WAY, request_cookie
from ..sign_in.policy import SignInResult
from .cookies import Cookies, CrossSite, CrossSiteCheck, SessionCookie
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
            self.cookies.take_away()
            return None

    def _read(self, request: Request) -> Caller | None:
        """A request of another site's page that would change something is refused."""
        held = self.cookies.held(request)
        if held is None:
            return None
        account, found = self.sessions.rows.of_cookie(held.public_id)
        if (
            account is None
            or found is None
            or found.kind != COOKIE
            or not compare_digest(held.digest, found.secret)
        ):
            raise InvalidCredentials
        if account.logged_out_at is not None:
            raise LoggedOut(note={"account_id": account.id})
        if request.method not in SAFE_METHODS:
            self.cross_site.check(request, {"account_id": account.id})
        self.sessions.use(found)
        return caller_of(found, account, COOKIE_WAY, found.expires_at.timestamp())

    def former(self, request: Request) -> Any:
        """The id of whose cookie it is, also where its session counts no longer: for telling them
        why."""
        held = None
        with suppress(InvalidCredentials):
            held = self.cookies.held(request)
        if held is None:
            return None
        return self.session.scalar(
            select(AccountSession.account_id).where(
                AccountSession.public_id == held.public_id,
                AccountSession.secret == held.digest,
                AccountSession.kind == COOKIE,
            )
        )

    def opened(self, opened: SignInResult) -> None:
        """Within the transaction of a sign-in: its browser holds the new session from here on, and
        the one that it held before, somebody else's perhaps, ends. Who has only shown more goes on
        in the same session."""
        begun, secret = opened.session, opened.secret
        if begun is None or begun.kind != COOKIE:
            return
        if secret is None:
            self.rotate(begun)
            return
        self.end_held(BY_SIGN_IN)
        held, expires_at = SessionCookie(begun.public_id, secret), begun.expires_at
        after_commit(self.session, lambda: self.cookies.give(held, expires_at))

    def enter(self) -> None:
        """Whom this request signs in is known by a cookie. Another site's page could sign its
        visitor in as somebody else, whose account would be filled with the visitor's data."""
        self.cross_site.check(request, {"event": "sign_in"})
        request_cookie()

    def leave(self) -> None:
        """The session of the request's cookie ends, and the cookie goes in any case."""
        self.cross_site.check(request)
        self.end_held(BY_OWNER)
        self.cookies.take_away()

    def logged_out(self, account: AccountLike) -> None:
        """Everywhere: the cookie that asked for it goes too, which would only be refused."""
        caller = known_caller()
        if caller is not None and caller.via == COOKIE_WAY and caller.account.id == account.id:
            after_commit(self.session, self.cookies.take_away)

    def end_all(self, account: AccountLike) -> None:
        """Within the transaction of a logout, which is recorded itself."""
        self.session.execute(
            update(AccountSession)
            .where(
                AccountSession.account_id == account.id,
                AccountSession.kind == COOKIE,
                AccountSession.ended_at.is_(None),
            )
            .values(ended_at=self.sessions.clock.now(), end_reason=BY_LOGOUT)
            .execution_options(synchronize_session=False)
        )

    def rotate(self, found: SessionRow | AccountSession) -> None:
        """Another secret for a session that its owner has just shown more for: whoever knew the one
        before has not."""
        if found.kind != COOKIE:
            return
        secret = token_bytes(SECRET_BYTES)
        held = SessionCookie(found.public_id, secret)
        with transaction(self.session):
            changed: Any = self.session.execute(
                update(AccountSession)
                .where(AccountSession.id == found.id, AccountSession.secret == found.secret)
                .values(secret=held.digest)
                .execution_options(synchronize_session=False)
            )
            # Of two at once, the browser keeps the cookie of the one that came first.
            if changed.rowcount:
                after_commit(self.session, lambda: self.cookies.give(held, found.expires_at))

    def end_held(self, reason: str) -> None:
        """End the session of the request's cookie, if the cookie is valid."""
        held = None
        if has_request_context():
            with suppress(InvalidCredentials):
                held = self.cookies.held(request)
        if held is None:
            return
        with transaction(self.session):
            account_id = self.session.scalar(
                update(AccountSession)
                .where(
                    AccountSession.public_id == held.public_id,
                    AccountSession.secret == held.digest,
                    AccountSession.kind == COOKIE,
                    AccountSession.ended_at.is_(None),
                )
                .values(ended_at=self.sessions.clock.now(), end_reason=reason)
                .returning(AccountSession.account_id)
                .execution_options(synchronize_session=False)
            )
            if account_id is not None:
                target = Target("session", str(held.public_id))
                kind = SESSION_ENDED
                report_action(
                    self.session, kind, account_id=account_id, target=target, reason=reason
                )


@guard(CrossSite, bearer=False)
def signs_in_by_cookie() -> None:
    """The route signs in by cookie: `sign_in_options` asks for one, other sites are rejected.

    Written below `@anyone` at a route with `only_with=CookieSessions`.
    """
    service(CookieSessions).enter()


def forget_cookie() -> None:
    """Delete the session cookie, if the caller of this request has one: the session has ended."""
    if caller().via == COOKIE_WAY:
        service(CookieSessions).cookies.take_away()
