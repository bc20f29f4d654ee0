"""Reads an account and its session by one query, as plain rows."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam

from ...accounts.models import AccountLike
from ...accounts.rows import AccountRows
from ...core.db.rows import Rows
from ...core.errors import EXPIRED, REVOKED
from ...core.types import AccountModel
from .models import AccountSession
from .settings import SessionLimits


class SessionRow(NamedTuple):
    public_id: UUID
    id: int
    kind: str
    secret: bytes
    authenticated_at: datetime
    factor_at: datetime | None
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    ended_at: datetime | None


# An account, its session, and why the session has ended; empty for an active session.
Found = tuple[AccountLike | None, SessionRow | None, str]

# The public id is given, and not read.
_COLUMNS = [getattr(AccountSession, name) for name in SessionRow._fields[1:]]


class SessionRows:
    def __init__(self, accounts: AccountRows, model: AccountModel, limits: SessionLimits) -> None:
        self.accounts = accounts
        self._limits = limits
        named = AccountSession.public_id == bindparam("public_id")
        same_account = AccountSession.account_id == model.id
        query = accounts.selected(*_COLUMNS)
        # An outer join distinguishes a missing account from a missing session.
        self._of_token = Rows(
            query.outerjoin(AccountSession, and_(same_account, named)).where(
                model.email == bindparam("email")
            )
        )
        self._of_cookie = Rows(query.join(AccountSession, same_account).where(named))

    def of_token(self, email: str, public_id: UUID) -> Found:
        rows = self._of_token.read(self.accounts.session, email=email, public_id=public_id)
        return self._parse(public_id, rows)

    def of_cookie(self, public_id: UUID) -> Found:
        rows = self._of_cookie.read(self.accounts.session, public_id=public_id)
        return self._parse(public_id, rows)

    def _parse(self, public_id: UUID, rows: Any) -> Found:
        if not rows:
            return None, None, ""
        values = list(rows[0])
        width = len(values) - len(_COLUMNS)
        account = self.accounts.of(values[:width])
        session = SessionRow(public_id, *values[width:])
        return account, session, self._why_ended(session, account)

    def _why_ended(self, session: SessionRow, account: AccountLike) -> str:
        """Return the reason of a 401, or an empty text for an active session. Revoking an account's
        tokens ends its earlier sessions."""
        if session.id is None or session.ended_at is not None:
            return REVOKED
        now = self.accounts.clock.now()
        since = account.tokens_valid_from
        if since is not None and session.created_at < since:
            return REVOKED
        is_active = (
            now < session.expires_at
            and now - session.created_at < self._limits.longest
            and now - session.used_at < self._limits.idle
        )
        return "" if is_active else EXPIRED
