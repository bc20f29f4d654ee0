"""Who must settle something first: whoever goes leaves nobody else without an owner or a root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.orm import aliased

from ..accounts.models import DELETING, AccountLike
from ..accounts.service import Accounts
from ..administration.errors import LastRoot, SoleOwner
from ..core.db.races import lock_name
from ..core.db.transaction import AnySession
from ..workspaces.members import OWNER, Members
from ..workspaces.models import ACTIVE, Member, Workspace

ROOT = "root"


@dataclass(eq=False)
class DeletionRules:
    """Within a transaction, that holds what is counted until its end: of two who go at once the
    second meets what the first has left."""

    session: AnySession
    accounts: Accounts
    members: Members

    def check(self, account: AccountLike) -> None:
        self._keep_a_root(account)
        if slugs := self.left_alone(account.id):
            raise SoleOwner(slugs)

    def left_alone(self, account_id: Any) -> Sequence[str]:
        """The slugs of workspaces that others are in, and nobody else owns who is to stay."""
        owned = select(Member.workspace_id).where(
            Member.account_id == account_id, Member.type == OWNER
        )
        for workspace_id in self.session.scalars(owned.order_by(Member.workspace_id)).all():
            self.members.lock(workspace_id)
        own, other, owner = aliased(Member), aliased(Member), aliased(Member)
        model = self.accounts.model
        in_it = own.workspace_id
        is_shared = exists().where(other.workspace_id == in_it, other.account_id != account_id)
        is_owned = exists().where(
            owner.workspace_id == in_it,
            owner.account_id != account_id,
            owner.type == OWNER,
            owner.status == ACTIVE,
            model.id == owner.account_id,
            model.status != DELETING,
        )
        return self.session.scalars(
            select(Workspace.slug)
            .join(own, own.workspace_id == Workspace.id)
            .where(own.account_id == account_id, own.type == OWNER, is_shared, ~is_owned)
            .order_by(Workspace.slug)
        ).all()

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
