"""The filters of the list of accounts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, or_

from ..accounts.service import Accounts
from ..core.db.base import timestamp_literal
from ..core.errors import Invalid
from .rules import accounts_lack
from .schemas import AccountQuery


@dataclass(eq=False)
class AccountFilters:
    accounts: Accounts
    # The condition that an account uses MFA; None if the application has no MFA.
    has_factor: ColumnElement[bool] | None

    def conditions(self, filters: AccountQuery.Input) -> Iterator[ColumnElement[bool]]:
        model = self.accounts.model
        if "status" in filters:
            yield self.accounts.has_status_row(filters["status"])
        if "role" in filters:
            yield model.role == filters["role"]
        if "verified" in filters:
            yield self._is_verified(filters["verified"])
        if "mfa" in filters:
            yield self._uses_mfa(filters["mfa"])
        if "created_after" in filters:
            yield model.created_at > timestamp_literal(model.created_at, filters["created_after"])
        if "last_login_after" in filters:
            column = self._column("last_login_date", "last_login_after")
            yield column > timestamp_literal(column, filters["last_login_after"])
        if "last_login_before" in filters:
            column = self._column("last_login_date", "last_login_before")
            before = timestamp_literal(column, filters["last_login_before"])
            yield or_(column < before, column.is_(None))

    def _is_verified(self, is_verified: bool) -> ColumnElement[bool]:
        since = self._column("email_unverified_since", "verified")
        condition: ColumnElement[bool] = since.is_(None) if is_verified else since.is_not(None)
        return condition

    def _uses_mfa(self, uses_mfa: bool) -> ColumnElement[bool]:
        if self.has_factor is None:
            raise Invalid.about("mfa", accounts_lack("MFA"))
        return self.has_factor if uses_mfa else ~self.has_factor

    def _column(self, name: str, parameter: str) -> Any:
        column = getattr(self.accounts.model, name, None)
        if column is None:
            raise Invalid.about(parameter, accounts_lack(name))
        return column
