"""An account as those who look after it see it: one row, of whichever columns the host's have."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, null, select

from ..accounts.errors import AccountNotFound
from ..accounts.models import SUSPENDED
from ..accounts.rows import to_read
from ..accounts.service import Accounts
from ..core.db.account_ids import shown
from ..core.web.answering import shown as names_of
from .schemas import AccountDetails

# Ready to be answered as JSON.
Details = dict[str, Any]

# What is told of a column without showing it.
_SINCE, _HAS_PASSWORD = "email_unverified_since", "has_password"


class AccountView:
    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        model = accounts.model
        self._names = [name for name in names_of(AccountDetails) if name != "email_verified"]
        self.rows = select(*(self._column(model, name) for name in [*self._names, _SINCE]))

    def read(self, account_id: Any) -> Details:
        rows = self.rows.where(self.accounts.model.id == account_id)
        row = self.accounts.session.execute(rows).one_or_none()
        if row is None:
            raise AccountNotFound
        return self.details(row)

    def details(self, row: Row[Any]) -> Details:
        details = {name: getattr(row, name) for name in self._names}
        details["id"] = shown(details["id"])
        details["email_verified"] = getattr(row, _SINCE) is None
        self._end_what_is_over(details, self.accounts.clock.now())
        return details

    def _end_what_is_over(self, details: Details, now: datetime) -> None:
        """Of a suspension whose end nobody has written down yet."""
        until = details["suspended_until"]
        if details["status"] == SUSPENDED and until is not None and until <= now:
            details["status"] = self.accounts.active_status
        if details["status"] != SUSPENDED:
            details["suspended_until"] = details["suspended_reason"] = None

    @staticmethod
    def _column(model: type[Any], name: str) -> Any:
        if name == _HAS_PASSWORD:
            return model.password_hash.is_not(None).label(name)
        if getattr(model, name, None) is None:
            return null().label(name)
        return to_read(model, name).label(name)
