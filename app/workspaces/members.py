from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select

from ..accounts.addresses import fold
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.errors import NotAuthorized
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.transaction import AnySession, lock_row, transaction
from ..core.types import AccountKey
from .actions import MEMBER_ADDED, MEMBER_REMOVED, MEMBER_UPDATED
from .errors import (
    AlreadyAMember,
    LastOwner,
    MemberInactive,
    MemberNotFound,
    NotAMember,
    WorkspaceNotFound,
)
from .models import ACTIVE, Member, Workspace
from .ownership import OWNER, Ownership
from .rules import may_manage


class ListedMember(NamedTuple):
    """A member with the e-mail that others know the account by."""

    member: Member
    email: str


@dataclass(eq=False)
class Members:
    """The members of a workspace. The actor is the requesting member; None is an operator.

    Every change holds the workspace's row: two owners who leave at once are let go one by one. What
    invitations do with members (`lock`, `find`, `manager`, `allow`, `insert`) is done in their
    transaction.
    """

    session: AnySession
    accounts: Accounts
    ownership: Ownership
    clock: Clock

    def page(
        self, workspace_id: int, offset: int, limit: int, search: str | None = None
    ) -> Sequence[ListedMember]:
        account: Any = self.accounts.model
        listed = (
            select(Member, account.email)
            .join(account, account.id == Member.account_id)
            .where(Member.workspace_id == workspace_id)
            .order_by(Member.id)
        )
        if search:
            listed = listed.where(account.email.startswith(fold(search), autoescape=True))
        rows = self.session.execute(listed.offset(offset).limit(limit))
        return [ListedMember(member, email) for member, email in rows]

    def one(self, workspace_id: int, account_id: AccountKey) -> ListedMember:
        found = self.find(workspace_id, account_id)
        if found is None:
            raise MemberNotFound
        return self._listed(found)

    def add(self, actor: Member, email: str, kind: str, status: str) -> ListedMember:
        with transaction(self.session):
            self.allow(self.manager(actor), kind)
            account = self.accounts.get(email)
            if self.find(actor.workspace_id, account.id) is not None:
                raise AlreadyAMember
            return ListedMember(
                self.insert(actor.workspace_id, account, kind, status), account.email
            )

    def change(
        self, actor: Member, account_id: AccountKey, kind: str | None, status: str | None
    ) -> ListedMember:
        with transaction(self.session):
            manager = self.manager(actor)
            member = self._get(actor.workspace_id, account_id)
            new_kind, new_status = kind or member.type, status or member.status
            self.allow(manager, member.type, new_kind)
            if (new_kind, new_status) != (OWNER, ACTIVE):
                self._keep_an_owner(member)
            self._record_change(member, new_kind, new_status)
            member.type, member.status = new_kind, new_status
            return self._listed(member)

    def remove(self, actor: Member, account_id: AccountKey) -> ListedMember:
        """Anyone may leave; who may remove others is in the table."""
        with transaction(self.session):
            if account_id == actor.account_id:
                member = self._again(actor)
            else:
                manager = self.manager(actor)
                member = self._get(actor.workspace_id, account_id)
                self.allow(manager, member.type)
            self._keep_an_owner(member)
            return self._delete(member)

    def put(self, workspace: Workspace, email: str, kind: str, status: str) -> ListedMember:
        """Add a member, or set the member's type and status, as an operator."""
        with transaction(self.session):
            self.lock(workspace.id)
            account = self.accounts.get(email)
            member = self.find(workspace.id, account.id)
            if member is None:
                member = self.insert(workspace.id, account, kind, status)
            else:
                self._record_change(member, kind, status)
            member.type, member.status = kind, status
            return ListedMember(member, account.email)

    def take_out(self, workspace: Workspace, email: str) -> ListedMember:
        """An operator's word: the last owner may go too."""
        with transaction(self.session):
            self.lock(workspace.id)
            account = self.accounts.get(email)
            return self._delete(self._get(workspace.id, account.id))

    def lock(self, workspace_id: int) -> None:
        if not lock_row(self.session, Workspace, Workspace.id == workspace_id):
            raise WorkspaceNotFound

    def find(self, workspace_id: int, account_id: AccountKey) -> Member | None:
        """Return the member as stored: the decorator may have read it before another's change."""
        return self.session.scalar(
            select(Member)
            .where(Member.workspace_id == workspace_id, Member.account_id == account_id)
            .execution_options(populate_existing=True)
        )

    def _get(self, workspace_id: int, account_id: AccountKey) -> Member:
        member = self.find(workspace_id, account_id)
        if member is None:
            raise MemberNotFound
        return member

    def _again(self, actor: Member) -> Member:
        """The actor as it stands now, holding the workspace."""
        self.lock(actor.workspace_id)
        found = self.find(actor.workspace_id, actor.account_id)
        if found is None:
            raise NotAMember
        return found

    def manager(self, actor: Member) -> Member:
        """Return the actor as stored; reject one without the right to manage before other
        checks."""
        found = self._again(actor)
        if not found.is_active:
            raise MemberInactive
        self.allow(found)
        return found

    def allow(self, actor: Member, *kinds: str) -> None:
        if not may_manage(actor.type, *kinds):
            raise NotAuthorized

    def _keep_an_owner(self, member: Member) -> None:
        """Refuse what would leave the workspace without an active owner."""
        if self.ownership.needs(member):
            raise LastOwner

    def insert(
        self, workspace_id: int, account: AccountLike, kind: str, status: str = ACTIVE
    ) -> Member:
        member = Member(
            workspace_id=workspace_id,
            account_id=account.id,
            type=kind,
            status=status,
            created_at=self.clock.now(),
        )
        self.session.add(member)
        self.session.flush()
        whose = {"workspace_id": workspace_id, "account_id": account.id}
        report_action(self.session, MEMBER_ADDED, **whose, after={"type": kind, "status": status})
        return member

    def _record_change(self, member: Member, kind: str, status: str) -> None:
        """The former and the new type and status of a member."""
        report_action(
            self.session,
            MEMBER_UPDATED,
            workspace_id=member.workspace_id,
            account_id=member.account_id,
            before={"type": member.type, "status": member.status},
            after={"type": kind, "status": status},
        )

    def _delete(self, member: Member) -> ListedMember:
        report_action(
            self.session,
            MEMBER_REMOVED,
            workspace_id=member.workspace_id,
            account_id=member.account_id,
            before={"type": member.type, "status": member.status},
        )
        listed = self._listed(member)
        self.session.delete(member)
        return listed

    def _listed(self, member: Member) -> ListedMember:
        account = self.accounts.by_id(member.account_id)
        return ListedMember(member, account.email if account is not None else "")
