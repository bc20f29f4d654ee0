"""Who must settle something first: whoever goes leaves nobody else without an owner or a root."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..administration.errors import LastRoot, SoleOwner
from ..core.db.races import lock_name
from ..core.db.transaction import AnySession
from ..workspaces.ownership import Ownership

ROOT = "root"


@dataclass(eq=False)
class DeletionRules:
    """Within a transaction, that holds what is counted until its end: of two who go at once the
    second meets what the first has left."""

    session: AnySession
    accounts: Accounts
    ownership: Ownership

    def check(self, account: AccountLike) -> None:
        self._keep_a_root(account)
        if alone := self.ownership.owned_alone(account.id):
            raise SoleOwner([workspace.slug for workspace in alone])

    def _keep_a_root(self, account: AccountLike) -> None:
        if account.role != ROOT:
            return
        model = self.accounts.model
        lock_name(self.session, model, ROOT)
        others = select(func.count(model.id)).where(
            model.role == ROOT,
            model.status.in_(self.accounts.active_statuses),
            model.id != account.id,
        )
        if not self.session.scalar(others):
            raise LastRoot
