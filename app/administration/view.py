"""An account for administrators, with its deliveries, memberships and audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, null, select

from ..accounts.errors import AccountNotFound
from ..accounts.models import SUSPENDED, AccountLike
from ..accounts.rows import to_read
from ..accounts.service import Accounts
from ..audit.schemas import EntryPage
from ..audit.service import AuditLog
from ..core.db.account_ids import serialize_id
from ..core.types import AccountKey, AccountModel
from ..core.web.paging import Slice
from ..core.web.responses import field_names
from ..delivery.outbox.received import ReceivedDeliveries
from ..notifications.models import SUBJECT
from ..workspaces.lookup import WorkspaceAccess
from ..workspaces.service import Workspaces
from .schemas import AccountDetails

# Values that are serialized as JSON without a schema.
Details = dict[str, Any]

# Columns of which only NULL or not NULL is shown.
_SINCE, _HAS_PASSWORD = "email_unverified_since", "has_password"


class AccountView:
    def __init__(
        self,
        accounts: Accounts,
        received: ReceivedDeliveries,
        workspaces: Workspaces,
        audit_log: AuditLog,
    ) -> None:
        self.accounts = accounts
        self.received = received
        self.workspaces = workspaces
        self.audit_log = audit_log
        model = accounts.model
        self._names = [name for name in field_names(AccountDetails) if name != "email_verified"]
        self.rows = select(*(self._column(model, name) for name in [*self._names, _SINCE]))

    def read(self, account_id: AccountKey) -> Details:
        rows = self.rows.where(self.accounts.model.id == account_id)
        row = self.accounts.session.execute(rows).one_or_none()
        if row is None:
            raise AccountNotFound
        return self.details(row)

    def details(self, row: Row[Any]) -> Details:
        details = {name: getattr(row, name) for name in self._names}
        details["id"] = serialize_id(details["id"])
        details["email_verified"] = getattr(row, _SINCE) is None
        self._end_suspension(details, self.accounts.clock.now())
        return details

    def deliveries(self, account_id: AccountKey, *, limit: int, after: int | None = None) -> Slice:
        self._get(account_id)
        rows = self.received.page(account_id, SUBJECT, before=after, limit=limit + 1)
        if len(rows) > limit:
            return Slice(rows[:limit], after=str(rows[limit - 1]["id"]))
        return Slice(rows, total=len(rows) if after is None else None)

    def memberships(
        self, account_id: AccountKey, *, offset: int, limit: int
    ) -> Sequence[WorkspaceAccess]:
        return self.workspaces.page(self._get(account_id), offset, limit)

    def events(self, account_id: AccountKey, page: EntryPage.Input) -> Slice:
        self._get(account_id)
        return self.audit_log.about_account(account_id, page)

    def _get(self, account_id: AccountKey) -> AccountLike:
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        return account

    def _end_suspension(self, details: Details, now: datetime) -> None:
        """Show an expired suspension as active. The next sign-in stores its end."""
        until = details["suspended_until"]
        if details["status"] == SUSPENDED and until is not None and until <= now:
            details["status"] = self.accounts.active_status
        if details["status"] != SUSPENDED:
            details["suspended_until"] = details["suspended_reason"] = None

    @staticmethod
    def _column(model: AccountModel, name: str) -> Any:
        if name == _HAS_PASSWORD:
            return model.password_hash.is_not(None).label(name)
        if getattr(model, name, None) is None:
            return null().label(name)
        return to_read(model, name).label(name)
