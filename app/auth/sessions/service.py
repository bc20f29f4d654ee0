"""Stored sessions: started at a sign-in, used, renewed and pruned."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import or_, update

from ...accounts.models import AccountLike
from ...core.clock import Clock
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession, execute_bulk, has_begun, lock_row, transaction
from ...core.request import current_origin
from ...core.types import JsonObject
from ..proof_names import has_factor, join_methods, methods
from ..settings import AuthSettings
from ..sign_in.options import SignInOptions
from .devices import stored_ip_address, stored_user_agent
from .models import AMR_LENGTH, COOKIE, SECRET_BYTES, TOKEN, AccountSession
from .refresh_token import RefreshTokens
from .rows import SessionRow, SessionRows

# The time of the last use is stored at most once in this period.
USE_SECONDS = 3600


class SessionStart(NamedTuple):
    session: AccountSession
    # The secret for the session cookie; the server stores only its digest.
    secret: bytes


@dataclass(eq=False)
class Sessions:
    session: AnySession
    rows: SessionRows
    clock: Clock
    settings: AuthSettings
    refresh_tokens: RefreshTokens

    def start(
        self,
        account: AccountLike,
        by: tuple[str, ...],
        options: SignInOptions,
        *,
        token_life: timedelta,
        factor_at: float | None,
        created_at: datetime,
    ) -> SessionStart:
        """Start a session within the transaction of the sign-in. A session without a refresh token
        ends with its access token."""
        # Directly after a revocation, `created_at` lies a moment ahead.
        now, origin = min(self.clock.now(), created_at), current_origin()
        shown = datetime.fromtimestamp(factor_at, UTC) if factor_at else None
        lives = self._life(options) or token_life
        secret = secrets.token_bytes(SECRET_BYTES)
        made = AccountSession(
            account_id=account.id,
            kind=COOKIE if options.cookie else TOKEN,
            secret=sha256(secret).digest() if options.cookie else secret,
            amr=join_methods(methods(by), AMR_LENGTH),
            authenticated_at=now,
            factor_at=now if has_factor(by) else shown,
            created_at=created_at,
            used_at=now,
            expires_at=now + min(self.settings.session_limits.longest, lives),
            ip=stored_ip_address(origin.address, self.settings.SESSION_ADDRESSES),
            user_agent=stored_user_agent(origin.user_agent),
        )
        self.session.add(made)
        self.session.flush()
        return SessionStart(made, secret)

    def use(self, found: SessionRow) -> None:
        """Store the time of use. If the application has begun a transaction, the time is stored by
        the next request."""
        now = self.clock.now()
        if (now - found.used_at).total_seconds() < USE_SECONDS or has_begun(self.session):
            return
        with transaction(self.session) as session:
            unchanged = (AccountSession.id == found.id, AccountSession.used_at == found.used_at)
            execute_bulk(session, update(AccountSession).where(*unchanged).values(used_at=now))

    def refresh_payload(self, session: AccountSession, options: SignInOptions) -> JsonObject:
        """Return the refresh token for the session's counter and its expiry, or an empty payload if
        the sign-in has no refresh token."""
        if session.kind != TOKEN or not self._is_refreshed(options):
            return {}
        refresh_token = self.refresh_tokens.write(
            session.public_id, session.counter, session.secret
        )
        ends_by = session.ends_by(self.settings.session_limits)
        return {"refresh_token": refresh_token, "refresh_expires": ends_by}

    def _is_refreshed(self, options: SignInOptions) -> bool:
        asked = options.refresh or self.settings.REFRESH_ALWAYS
        return asked and self.settings.REFRESH_TOKEN_DAYS > 0

    def _life(self, options: SignInOptions) -> timedelta | None:
        if options.cookie:
            return self.settings.session_limits.longest
        refreshed = timedelta(days=self.settings.REFRESH_TOKEN_DAYS)
        return refreshed if self._is_refreshed(options) else None


@dataclass(eq=False)
class Renewal:
    """Renews a session after re-authentication; the session stays the same."""

    session: AnySession
    clock: Clock
    token_life: timedelta
    # The longest life of a session, however often it is renewed.
    longest: timedelta

    def renew(self, row_id: object, by: tuple[str, ...]) -> AccountSession | None:
        """Renew within the open transaction; return None for a session that has ended."""
        lock_row(self.session, AccountSession, AccountSession.id == row_id)
        found = self.session.get(AccountSession, row_id, populate_existing=True)
        if found is None or found.ended_at is not None:
            return None
        now = self.clock.now()
        found.authenticated_at = now
        if has_factor(by):
            found.factor_at = now
        found.amr = join_methods([*found.amr.split(), *methods(by)], AMR_LENGTH)
        # A session without a refresh token lives as long as the next access token.
        found.expires_at = max(
            found.expires_at, min(now + self.token_life, found.created_at + self.longest)
        )
        self.session.flush()
        return found


# Until then an admin can look up when and why a session ended.
KEEP_DAYS = 30


def prune_sessions(session: AnySession, clock: Clock) -> int:
    """Delete sessions that ended long ago; return their number."""
    before = clock.now() - timedelta(days=KEEP_DAYS)
    ended = or_(AccountSession.expires_at < before, AccountSession.ended_at < before)
    return delete_in_batches(session, AccountSession, ended, batch=5_000)
