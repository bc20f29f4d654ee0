"""Reads an account and its personal token by one query, as plain rows."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam

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
    expires_at: datetime
    last_used_at: datetime | None
    ended_at: datetime | None
    networks: str
    network_at: datetime | None


class TokenRows:
    def __init__(self, accounts: AccountRows, model: AccountModel) -> None:
        self.accounts = accounts
        columns = [getattr(PersonalToken, name) for name in TokenRow._fields]
        query = accounts.selected(*columns).join(
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
