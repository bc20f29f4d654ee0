"""Reads an account and its session by one query, as plain rows."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam

from ...accounts.models import AccountLike
from ...accounts.rows import AccountRows
from ...core.db.rows import Rows
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

    def of_token(self, email: str, public_id: UUID) -> tuple[AccountLike | None, SessionRow | None]:
        rows = self._of_token.read(self.accounts.session, email=email, public_id=public_id)
        return self._parse(public_id, rows)

    def of_cookie(self, public_id: UUID) -> tuple[AccountLike | None, SessionRow | None]:
        rows = self._of_cookie.read(self.accounts.session, public_id=public_id)
        return self._parse(public_id, rows)

    def _parse(self, public_id: UUID, rows: Any) -> tuple[AccountLike | None, SessionRow | None]:
        if not rows:
            return None, None
        values = list(rows[0])
        width = len(values) - len(_COLUMNS)
        account = self.accounts.of(values[:width])
        session = SessionRow(public_id, *values[width:])
        return account, session if self._is_valid(session, account) else None

    def _is_valid(self, session: SessionRow, account: AccountLike) -> bool:
        """Return whether the session is active. Revoking an account's tokens ends its earlier
        sessions."""
        if session.id is None or session.ended_at is not None:
            return False
        now = self.accounts.clock.now()
        since = account.tokens_valid_from
        return (
            now < session.expires_at
            and now - session.created_at < self._limits.longest
            and now - session.used_at < self._limits.idle
            and (since is None or session.created_at >= since)
        )
