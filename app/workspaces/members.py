from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, insert, select

from ..accounts.models import AccountLike, Viewer
from ..accounts.search import MAX_CHECKED, MAX_MATCHES, AccountFinder
from ..accounts.service import Accounts
from ..auth.errors import InvalidCredentials, NotAuthorized
from ..auth.features import NO_MEMBERSHIP, TokenFeature
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.estimates import Estimate, count_rows
from ..core.db.transaction import AnySession, lock_or_raise, lock_row, transaction, unprepared
from ..core.errors import REVOKED, Invalid
from ..core.types import AccountKey, Values
from .actions import MEMBER_ADDED, MEMBER_REMOVED, MEMBER_UPDATED
from .errors import (
    AlreadyAMember,
    LastOwner,
    MemberInactive,
    MemberNotFound,
    NotAMember,
    WorkspaceNotFound,
)
from .models import ACTIVE, OWNER, STATUS, Member, TokenMember, Workspace
from .ownership import Ownership

INVALID_STATUS = CodedMessage(
    "Use lowercase letters, digits, hyphens and underscores, and begin with a letter.",
    "invalid_format",
    expected="pattern",
)


class ListedMember(NamedTuple):
    """A member with the email address of its account."""

    member: Member
    email: str


@dataclass(eq=False)
class Members:
    """The members of a workspace. The actor is the requesting member, or a workspace's token.

    Every change locks the workspace's row, so that two owners cannot leave at once. `lock`, `find`,
    `find_ids`, `manager`, `check_may_manage`, `insert` and `insert_all` are called within another
    service's transaction.
    """

    session: AnySession
    accounts: Accounts
    finder: AccountFinder
    ownership: Ownership
    clock: Clock
    tokens: TokenFeature | None

    def page(
        self, workspace_id: int, viewer: Viewer, offset: int, limit: int, search: str | None = None
    ) -> Sequence[ListedMember]:
        account: Any = self.accounts.model
        listed = (
            select(Member, account.email)
            .join(account, account.id == Member.account_id)
            .where(Member.workspace_id == workspace_id)
            .order_by(Member.id)
        )
        with unprepared(self.session) if search else nullcontext():
            if search:
                listed = listed.where(*self._found(workspace_id, viewer, search))
            rows = self.session.execute(listed.offset(offset).limit(limit))
            return [ListedMember(member, email) for member, email in rows]

    def count(
        self, workspace_id: int, viewer: Viewer, search: str | None = None
    ) -> Estimate | None:
        """Return the number of members, or of those that a search finds; None if not all members
        are searched."""
        ids = select(Member.id).where(Member.workspace_id == workspace_id)
        if not search:
            return count_rows(self.session, ids)
        account: Any = self.accounts.model
        with unprepared(self.session):
            is_match, *bounds = self._found(workspace_id, viewer, search)
            found = ids.join(account, account.id == Member.account_id).where(is_match)
            return None if bounds else count_rows(self.session, found, MAX_MATCHES)

    def _found(
        self, workspace_id: int, viewer: Viewer, search: str
    ) -> Sequence[ColumnElement[bool]]:
        """Return the conditions for the members that a search finds: another one if the text is
        so frequent that only the first MAX_CHECKED members are searched.

        An account that is no member must not change the result: members could find out whether
        it exists.
        """
        model = self.accounts.model
        in_workspace = Member.workspace_id == workspace_id
        is_member = model.id.in_(select(Member.account_id).where(in_workspace))
        matches = self.finder.find(search, is_member, viewer=viewer)
        if matches.ids is not None:
            return (matches.is_match,)
        first = select(Member.id).where(in_workspace).order_by(Member.id)
        end = self.session.scalar(first.offset(MAX_CHECKED).limit(1))
        return (matches.is_match,) if end is None else (matches.is_match, Member.id < end)

    def get(self, workspace_id: int, account_id: AccountKey) -> ListedMember:
        return self._listed(self._get(workspace_id, account_id))

    def add(self, actor: Member, email: str, member_type: str, status: str) -> ListedMember:
        with transaction(self.session):
            self.check_may_manage(self.manager(actor), member_type)
            account = self.accounts.get(email)
            if self.find(actor.workspace_id, account.id) is not None:
                raise AlreadyAMember
            return ListedMember(
                self.insert(actor.workspace_id, account, member_type, status), account.email
            )

    def update(
        self, actor: Member, account_id: AccountKey, member_type: str | None, status: str | None
    ) -> ListedMember:
        with transaction(self.session):
            manager = self.manager(actor)
            member = self._get(actor.workspace_id, account_id)
            new_type, new_status = member_type or member.type, status or member.status
            self.check_may_manage(manager, member.type, new_type)
            if (new_type, new_status) != (OWNER, ACTIVE):
                self._check_owner_remains(member)
            self._record_change(member, new_type, new_status)
            member.type, member.status = new_type, new_status
            return self._listed(member)

    def remove(self, actor: Member, account_id: AccountKey) -> ListedMember:
        """Remove a member. Every member may leave; managers may remove others."""
        with transaction(self.session):
            if account_id == actor.account_id:
                member = self._load_actor(actor)
            else:
                manager = self.manager(actor)
                member = self._get(actor.workspace_id, account_id)
                self.check_may_manage(manager, member.type)
            self._check_owner_remains(member)
            return self._delete(member)

    def put(self, workspace: Workspace, email: str, member_type: str, status: str) -> ListedMember:
        """Add a member, or set the member's type and status, as an operator."""
        with transaction(self.session):
            self.lock(workspace.id)
            account = self.accounts.get(email)
            member = self.find(workspace.id, account.id)
            if member is None:
                member = self.insert(workspace.id, account, member_type, status)
            else:
                self._record_change(member, member_type, status)
            member.type, member.status = member_type, status
            return ListedMember(member, account.email)

    def remove_by_email(self, workspace: Workspace, email: str) -> ListedMember:
        """Remove a member as an operator, also the last owner."""
        with transaction(self.session):
            self.lock(workspace.id)
            account = self.accounts.get(email)
            return self._delete(self._get(workspace.id, account.id))

    def lock_member(self, workspace_id: int, account_id: AccountKey) -> str | None:
        """Lock the workspace for an identity provider, and return the type of the member. Return
        None if the workspace does not exist, or the membership is not active."""
        if not lock_row(self.session, Workspace, Workspace.id == workspace_id):
            return None
        member = self.find(workspace_id, account_id)
        return NO_MEMBERSHIP if member is None else member.type if member.is_active else None

    def set_type(self, workspace_id: int, account: AccountLike, member_type: str) -> bool:
        """Add a member, set its type, or remove it for NO_MEMBERSHIP, after `lock_member`. Return
        False for the last owner, who stays."""
        member = self.find(workspace_id, account.id)
        if member is None:
            self.insert(workspace_id, account, member_type)
        elif member_type != OWNER and self.ownership.is_last_owner(member):
            return False
        elif member_type == NO_MEMBERSHIP:
            self._delete(member)
        else:
            self._record_change(member, member_type, member.status)
            member.type = member_type
        return True

    def lock(self, workspace_id: int) -> None:
        is_this = Workspace.id == workspace_id
        lock_or_raise(self.session, Workspace, is_this, WorkspaceNotFound)

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

    def _load_actor(self, actor: Member | TokenMember) -> Member:
        """Lock the workspace and return the actor as stored."""
        self.lock(actor.workspace_id)
        if isinstance(actor, TokenMember):
            if self.tokens is None or not self.tokens.is_valid(actor.token_id):
                raise InvalidCredentials(reason=REVOKED)
            return cast(Member, actor)
        found = self.find(actor.workspace_id, actor.account_id)
        if found is None:
            raise NotAMember
        return found

    def manager(self, actor: Member) -> Member:
        """Lock the workspace and return the actor as stored. Raise if the actor may not manage
        members, before other checks."""
        found = self._load_actor(actor)
        if not found.is_active:
            raise MemberInactive
        self.check_may_manage(found)
        return found

    def check_may_manage(self, actor: Member, *types: str) -> None:
        if not actor.may_manage(*types):
            raise NotAuthorized

    def _check_owner_remains(self, member: Member) -> None:
        """Raise LastOwner if the workspace has no other active owner."""
        if self.ownership.is_last_owner(member):
            raise LastOwner

    def insert(
        self, workspace_id: int, account: AccountLike, member_type: str, status: str = ACTIVE
    ) -> Member:
        _check_status(status)
        member = Member(
            workspace_id=workspace_id,
            account_id=account.id,
            type=member_type,
            status=status,
            created_at=self.clock.now(),
        )
        self.session.add(member)
        self.session.flush()
        self._record_added(workspace_id, account.id, {"type": member_type, "status": status})
        return member

    def find_ids(self, workspace_id: int, account_ids: Collection[AccountKey]) -> set[AccountKey]:
        """Return the ids of those accounts that are members."""
        found = select(Member.account_id).where(Member.workspace_id == workspace_id)
        return set(self.session.scalars(found.where(Member.account_id.in_(account_ids))))

    def insert_all(
        self, workspace_id: int, accounts: Collection[AccountLike], member_type: str
    ) -> None:
        """Insert many members at once. The caller has locked the workspace, and has left out those
        that are members."""
        now, values = self.clock.now(), {"type": member_type, "status": ACTIVE}
        rows = [
            {"workspace_id": workspace_id, "account_id": each.id, "created_at": now, **values}
            for each in accounts
        ]
        if rows:
            self.session.execute(insert(Member), rows)
        for each in accounts:
            self._record_added(workspace_id, each.id, values)

    def _record_added(self, workspace_id: int, account_id: AccountKey, after: Values) -> None:
        report_action(
            self.session,
            MEMBER_ADDED,
            account_id=account_id,
            workspace_id=workspace_id,
            after=after,
        )

    def _record_change(self, member: Member, member_type: str, status: str) -> None:
        """Report a change with the former and the new type and status."""
        if (member_type, status) == (member.type, member.status):
            return
        if status != member.status:
            _check_status(status)
        report_action(
            self.session,
            MEMBER_UPDATED,
            workspace_id=member.workspace_id,
            account_id=member.account_id,
            before={"type": member.type, "status": member.status},
            after={"type": member_type, "status": status},
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


def _check_status(status: str) -> None:
    """Raise Invalid if a membership cannot get this status."""
    if not STATUS.fullmatch(status):
        raise Invalid.about("status", INVALID_STATUS)
