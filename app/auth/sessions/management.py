"""Lists and ends the sessions of an account."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Update, and_, select, update

from ...accounts.models import AccountLike
from ...core.actions import Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.account_ids import UUID_PATTERN
from ...core.db.transaction import AnySession, execute_bulk, transaction
from ..actions import SESSION_ENDED
from ..caller import Caller
from .devices import label_of
from .models import AccountSession, is_active_session
from .schemas import SessionNotFound
from .settings import SessionLimits

# Why a session was ended before its expiry.
BY_OWNER = "owner"
BY_OPERATOR = "operator"
BY_REUSE = "reuse"

_SHOWN = (
    AccountSession.public_id,
    AccountSession.kind,
    AccountSession.created_at,
    AccountSession.used_at,
    AccountSession.expires_at,
    AccountSession.ip,
    AccountSession.user_agent,
    AccountSession.amr,
)


class OwnSession(NamedTuple):
    """A session of the caller's account.

    Attributes:
        id: Public id of the session, the claim `sid` of its tokens.
        current: Whether this request belongs to the session.
        kind: `token` or `cookie`.
        created_at: Time of the sign-in.
        used_at: Time of the last use, accurate to the hour.
        expires_at: When the session expires.
        ip: Network or IP address of the client, by `AUTH.SESSION_ADDRESSES`.
        user_agent: The `User-Agent` header of the sign-in.
        label: Device and browser, such as "Firefox on Linux".
        amr: Authentication methods of the sign-in (RFC 8176).
    """

    id: str
    current: bool
    kind: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    ip: str | None
    user_agent: str | None
    label: str | None
    amr: Sequence[str]


@dataclass(eq=False)
class SessionManagement:
    session: AnySession
    clock: Clock
    limits: SessionLimits

    def list(
        self, caller: Caller, account: AccountLike, offset: int, limit: int
    ) -> Sequence[OwnSession]:
        """Return the active sessions of the caller, or of an account for an admin, newest first."""
        query = (
            select(*_SHOWN)
            .where(self._live(account))
            .order_by(AccountSession.id.desc())
            .offset(offset)
            .limit(limit)
        )
        return [_shown(row, caller) for row in self.session.execute(query)]

    def end(
        self, caller: Caller, account: AccountLike, session_id: str, reason: str = BY_OWNER
    ) -> OwnSession:
        """End a session of the caller, or of an account for an admin, and return it. Raise
        SessionNotFound for a session of another account, and for one that has ended."""
        if not re.fullmatch(UUID_PATTERN, session_id):
            raise SessionNotFound
        with transaction(self.session) as session:
            row = session.execute(
                self._ending(account, reason)
                .where(AccountSession.public_id == UUID(session_id))
                .returning(*_SHOWN)
            ).one_or_none()
            if row is None:
                raise SessionNotFound
            report_action(
                session,
                SESSION_ENDED,
                account_id=account.id,
                target=Target("session", session_id),
                reason=reason,
            )
        return _shown(row, caller)

    def end_all(self, caller: Caller, *, others: bool) -> int:
        """End the caller's sessions and return their number."""
        with transaction(self.session) as session:
            ending = self._ending(caller.account)
            if others:
                own = caller.session
                ending = ending.where(AccountSession.id != own.id) if own else ending
            ended = execute_bulk(session, ending).rowcount
            if ended:
                report_action(
                    session,
                    SESSION_ENDED,
                    account_id=caller.account.id,
                    reason=BY_OWNER,
                    sessions=ended,
                )
        return ended

    def _ending(self, account: AccountLike, reason: str = BY_OWNER) -> Update:
        return (
            update(AccountSession)
            .where(self._live(account))
            .values(ended_at=self.clock.now(), end_reason=reason)
            .execution_options(synchronize_session=False)
        )

    def _live(self, account: AccountLike) -> ColumnElement[bool]:
        """Return the condition of an active session, as `SessionRows` checks it (rows.py)."""
        now, since = self.clock.now(), account.tokens_valid_from
        live = and_(AccountSession.account_id == account.id, is_active_session(self.limits, now))
        return live if since is None else and_(live, AccountSession.created_at >= since)


def _shown(row: Any, caller: Caller) -> OwnSession:
    return OwnSession(
        str(row.public_id),
        # The credential of an application has no session.
        caller.session is not None and row.public_id == caller.session.public_id,
        row.kind,
        row.created_at,
        row.used_at,
        row.expires_at,
        row.ip,
        row.user_agent,
        label_of(row.user_agent),
        row.amr.split(),
    )
