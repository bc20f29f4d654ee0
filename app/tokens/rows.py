"""Reads an account and its personal token by one query, as plain rows."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, case

from ..accounts.models import AccountLike
from ..accounts.rows import AccountRows
from ..core.db.rows import Rows
from ..core.types import AccountModel
from .models import PersonalToken


class TokenRow(NamedTuple):
    id: int
    workspace_id: int | None
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
