"""A workspace always has an active owner: an owner with active membership and account."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, exists, select, true
from sqlalchemy.orm import aliased

from ..accounts.service import Accounts
from ..core.context import report_action
from ..core.db.transaction import AnySession, lock_row
from ..core.types import AccountKey
from .actions import MEMBER_UPDATED
from .models import ACTIVE, ADMIN, MEMBER, OWNER, Member, Workspace


@dataclass(eq=False)
class Ownership:
    """Called within a transaction: the workspaces stay locked until its end, so that two owners
    cannot leave at once."""

    session: AnySession
    accounts: Accounts

    def has_other_owner(self, workspace_id: object, account_id: AccountKey) -> ColumnElement[bool]:
        """Return the condition that a workspace has an active owner other than this account.

        Owners with a suspended account, or one that is being deleted, are not active.
        """
        return self._has_owner(workspace_id, account_id)

    def _has_owner(
        self, workspace_id: object, besides: AccountKey | None = None
    ) -> ColumnElement[bool]:
        owner, account = aliased(Member), self.accounts.model
        return exists().where(
            owner.workspace_id == workspace_id,
            true() if besides is None else owner.account_id != besides,
            owner.type == OWNER,
            owner.status == ACTIVE,
            account.id == owner.account_id,
            self.accounts.is_active_row(),
        )

    def is_last_owner(self, member: Member) -> bool:
        """Whether the workspace would have no active owner without this member. A change locks the
        workspace first."""
        if member.type != OWNER:
            return False
        is_owned = self.has_other_owner(member.workspace_id, member.account_id)
        return not self.session.scalar(select(is_owned))

    def lock_solely_owned(self, account_id: AccountKey) -> Sequence[Workspace]:
        """Lock all workspaces that the account owns, and return `solely_owned`."""
        owned = select(Member.workspace_id).where(
            Member.account_id == account_id, Member.type == OWNER
        )
        for workspace_id in self.session.scalars(owned.order_by(Member.workspace_id)).all():
            lock_row(self.session, Workspace, Workspace.id == workspace_id)
        return self.solely_owned(account_id)

    def solely_owned(self, account_id: AccountKey) -> Sequence[Workspace]:
        """Return the workspaces with other members that would have no active owner without the
        account, ordered by slug. Pages call it without a transaction."""
        owner, other = aliased(Member), aliased(Member)
        is_shared = exists().where(
            other.workspace_id == Workspace.id, other.account_id != account_id
        )
        return self.session.scalars(
            select(Workspace)
            .join(owner, owner.workspace_id == Workspace.id)
            .where(
                owner.account_id == account_id,
                owner.type == OWNER,
                is_shared,
                ~self.has_other_owner(Workspace.id, account_id),
            )
            .order_by(Workspace.slug)
        ).all()

    def without_owner(self, account_ids: Collection[AccountKey]) -> Sequence[str]:
        """Return the slugs of the workspaces with other members that these accounts own and that
        have no active owner, after a suspension of the accounts."""
        owner, other = aliased(Member), aliased(Member)
        is_owned = exists().where(
            owner.workspace_id == Workspace.id,
            owner.account_id.in_(account_ids),
            owner.type == OWNER,
            other.workspace_id == Workspace.id,
            other.account_id != owner.account_id,
        )
        query = select(Workspace.slug).where(is_owned, ~self._has_owner(Workspace.id))
        return self.session.scalars(query.order_by(Workspace.slug)).all()

    def transfer(self, account_id: AccountKey) -> Sequence[Workspace]:
        """Before the account is deleted, appoint a new owner for each workspace that it solely
        owns: the oldest active admin, or else the oldest active member, but no guest.

        Return the workspaces without an active owner.
        """
        ownerless = []
        for workspace in self.lock_solely_owned(account_id):
            successor = self._successor(workspace.id, account_id)
            if successor is None:
                ownerless.append(workspace)
                continue
            report_action(
                self.session,
                MEMBER_UPDATED,
                workspace_id=workspace.id,
                account_id=successor.account_id,
                before={"type": successor.type, "status": successor.status},
                after={"type": OWNER, "status": successor.status},
            )
            successor.type = OWNER
        self.session.flush()
        return ownerless

    def _successor(self, workspace_id: int, account_id: AccountKey) -> Member | None:
        account = self.accounts.model
        return self.session.scalar(
            select(Member)
            .join(account, account.id == Member.account_id)
            .where(
                Member.workspace_id == workspace_id,
                Member.account_id != account_id,
                Member.type.in_((ADMIN, MEMBER)),
                Member.status == ACTIVE,
                self.accounts.is_active_row(),
            )
            .order_by(case((Member.type == ADMIN, 0), else_=1), Member.id)
            .limit(1)
        )
