"""Reads a personal token with its account, or a token of a workspace, by one query."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, select

from ..accounts.models import AccountLike
from ..accounts.rows import AccountRows
from ..core.db.rows import Row, Rows
from ..core.db.transaction import AnySession
from ..core.types import AccountModel
from .models import PersonalToken, TokenModel, WorkspaceToken


class TokenRow(NamedTuple):
    """What each request reads of its token: every column costs time."""

    id: int
    workspace_id: int | None
    name: str
    scopes: str
    # None if the token was ended before.
    expires_at: datetime | None


def _columns(model: TokenModel) -> list[Any]:
    until = case((model.ended_at.is_(None), model.expires_at))
    return [model.id, model.workspace_id, model.name, model.scopes, until]


class TokenRows:
    def __init__(self, accounts: AccountRows, model: AccountModel) -> None:
        self.accounts = accounts
        same_account = PersonalToken.account_id == model.id
        query = accounts.selected(*_columns(PersonalToken)).join(PersonalToken, same_account)
        self._rows = Rows(query.where(PersonalToken.digest == bindparam("digest")))
        # How many values of a row belong to the account.
        self._width = len(accounts.columns)

    def read(self, digest: str) -> tuple[AccountLike, TokenRow] | None:
        rows = self._rows.read(self.accounts.session, digest=digest)
        if not rows:
            return None
        [row] = rows
        return self.accounts.of(row[: self._width]), TokenRow._make(row[self._width :])


_OF_WORKSPACE = Rows(
    select(*_columns(WorkspaceToken), WorkspaceToken.type).where(
        WorkspaceToken.digest == bindparam("digest")
    )
)


def read_workspace_token(session: AnySession, digest: str) -> Row | None:
    """Return the values of a `TokenRow` and the type of the member, or None."""
    rows = _OF_WORKSPACE.read(session, digest=digest)
    return rows[0] if rows else None
