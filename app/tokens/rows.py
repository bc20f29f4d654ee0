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


_COLUMNS = [getattr(PersonalToken, name) for name in TokenRow._fields]


class TokenRows:
    def __init__(self, accounts: AccountRows, model: AccountModel) -> None:
        self.accounts = accounts
        query = accounts.selected(*_COLUMNS).join(
            PersonalToken, PersonalToken.account_id == model.id
        )
        self._rows = Rows(query.where(PersonalToken.digest == bindparam("digest")))

    def read(self, digest: bytes) -> tuple[AccountLike, TokenRow] | None:
        rows = self._rows.read(self.accounts.session, digest=digest)
        if not rows:
            return None
        values = list(rows[0])
        width = len(values) - len(_COLUMNS)
        return self.accounts.of(values[:width]), TokenRow(*values[width:])
