"""Reads a personal token with its account, or a token of a workspace, by one query."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, case, select

from ..accounts.models import AccountLike
from ..accounts.rows import AccountRows
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession
from ..core.types import AccountModel
from .models import PersonalToken, WorkspaceToken


class TokenRow(NamedTuple):
    id: int
    workspace_id: int | None
    name: str
    scopes: str
    # None if the token was ended before.
    expires_at: datetime | None


class WorkspaceTokenRow(NamedTuple):
    id: int
    workspace_id: int
    type: str
    name: str
    scopes: str
    # None if the token was ended before.
    expires_at: datetime | None


# Every column costs each request time.
_COLUMNS = (
    PersonalToken.id,
    PersonalToken.workspace_id,
    PersonalToken.name,
    PersonalToken.scopes,
    case((PersonalToken.ended_at.is_(None), PersonalToken.expires_at)),
)


class TokenRows:
    def __init__(self, accounts: AccountRows, model: AccountModel) -> None:
        self.accounts = accounts
        query = accounts.selected(*_COLUMNS).join(
            PersonalToken, PersonalToken.account_id == model.id
        )
        self._rows = Rows(query.where(PersonalToken.digest == bindparam("digest")))
        # How many values of a row belong to the account.
        self._width = len(accounts.columns)

    def read(self, digest: str) -> tuple[AccountLike, TokenRow] | None:
        rows = self._rows.read(self.accounts.session, digest=digest)
        if not rows:
            return None
        [row] = rows
        return self.accounts.of(row[: self._width]), TokenRow._make(row[self._width :])


_WORKSPACE_ROWS = Rows(
    select(
        WorkspaceToken.id,
        WorkspaceToken.workspace_id,
        WorkspaceToken.type,
        WorkspaceToken.name,
        WorkspaceToken.scopes,
        case((WorkspaceToken.ended_at.is_(None), WorkspaceToken.expires_at)),
    ).where(WorkspaceToken.digest == bindparam("digest"))
)


def read_workspace_token(session: AnySession, digest: str) -> WorkspaceTokenRow | None:
    rows = _WORKSPACE_ROWS.read(session, digest=digest)
    return WorkspaceTokenRow._make(rows[0]) if rows else None
