"""What stands around an account: what it was sent, where it is a member, what happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..accounts.errors import AccountNotFound
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..audit.service import Records
from ..core.web.paging import Slice
from ..delivery.outbox.received import ReceivedDeliveries
from ..notifications.models import SUBJECT
from ..workspaces.lookup import Entry
from ..workspaces.service import Workspaces


@dataclass(eq=False)
class Surroundings:
    accounts: Accounts
    received: ReceivedDeliveries
    workspaces: Workspaces
    records: Records

    def deliveries(self, account_id: Any, *, limit: int, after: int | None = None) -> Slice:
        self._get(account_id)
        rows = self.received.page(account_id, SUBJECT, before=after, limit=limit + 1)
        if len(rows) > limit:
            return Slice(rows[:limit], after=str(rows[limit - 1]["id"]))
        return Slice(rows, total=len(rows) if after is None else None)

    def memberships(self, account_id: Any, *, offset: int, limit: int) -> Sequence[Entry]:
        return self.workspaces.page(self._get(account_id), offset, limit)

    def events(self, account_id: Any, *, limit: int, after: str | None) -> Slice:
        self._get(account_id)
        return self.records.page({"account": account_id}, after, limit)

    def _get(self, account_id: Any) -> AccountLike:
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        return account
