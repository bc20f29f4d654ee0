from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.context import report_action
from ..core.db.transaction import AnySession, transaction
from ..core.types import JsonObject, Values
from .actions import ACCOUNT_UPDATED
from .models import AccountLike
from .service import Accounts


@dataclass(eq=False)
class Details:
    """The owner's view of an account, and the fields that the owner can change."""

    session: AnySession
    accounts: Accounts

    @cached_property
    def _read(self) -> Any:
        # Imported here: an application that reads no account needs no schemas.
        from ..core.web.responses import row_serializer
        from .schemas import AccountRead

        return row_serializer(AccountRead, self.accounts.rows.columns)

    def shown(self, row: AccountLike) -> JsonObject:
        """Return the fields of `AccountRead` from a plain row, which every client reads."""
        shown: JsonObject = self._read(row)
        return shown

    def change(self, account: AccountLike, given: Values) -> AccountLike:
        with transaction(self.session) as session:
            for name, value in given.items():
                setattr(account, name, value)
            self.accounts.flush()
            if given:
                changed = sorted(given)
                report_action(session, ACCOUNT_UPDATED, account_id=account.id, changed=changed)
            return account
