from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Select, bindparam, delete, exists, select, update
from sqlalchemy.orm import aliased

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.transaction import AnySession, insert_new, lock_row, transaction
from ..core.errors import QuotaReached
from .actions import WORKSPACE_CREATED, WORKSPACE_DELETED
from .errors import MemberInactive, NotAMember, SlugTaken, TooManyWorkspaces, WorkspaceNotFound
from .lookup import Entry, find_entry
from .models import NAME_LENGTH, Member, Workspace
from .settings import WorkspacesSettings
from .slugs import suggestions

# A sign-in lists this many; `/workspaces` lists all of them in pages.
MOST_AT_LOGIN = 100
DAY = timedelta(days=1)


class Workspaces:
    """Creates workspaces, and finds those of an account and its current one."""

    def __init__(
        self, session: AnySession, accounts: Accounts, clock: Clock, settings: WorkspacesSettings
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.clock = clock
        self.settings = settings
        # Made once: a login asks it twice.
        self._theirs = (
            select(Workspace, Member)
            .join(Member, Member.workspace_id == Workspace.id)
            .where(Member.account_id == bindparam("account_id"))
            .order_by(Member.id)
        )

    def enter(self, slug: str | None, account: AccountLike | None) -> Entry:
        return find_entry(self.session, slug, account)

    def first_of(self, account: AccountLike) -> Sequence[Entry]:
        """The account's workspaces, the one it has been in longest first; of very many some, the
        current one among them."""
        entries = self._entries(self._theirs.limit(MOST_AT_LOGIN), account)
        current = account.current_workspace_id
        if len(entries) < MOST_AT_LOGIN or any(e.workspace.id == current for e in entries):
            return entries
        further = self._entries(self._theirs.where(Workspace.id == current), account)
        return [*entries[: MOST_AT_LOGIN - len(further)], *further]

    def at_sign_in(self, account: AccountLike) -> tuple[Sequence[Entry], Entry | None]:
        """Return the account's workspaces and its current workspace, within the sign-in's
        transaction. The first workspace becomes the current one of an account that has none, or
        that has left it."""
        entries = self.first_of(account)
        current = entries[0] if entries else None
        for entry in entries:
            if entry.workspace.id == account.current_workspace_id:
                current = entry
        if current is not None:
            account.current_workspace_id = current.workspace.id
        return entries, current

    def page(self, account: AccountLike, offset: int, limit: int) -> Sequence[Entry]:
        return self._entries(self._theirs.offset(offset).limit(limit), account)

    def get(self, slug: str) -> Workspace:
        """The workspace of this very slug: an operator has neither a current nor a default one."""
        workspace = self.session.scalar(select(Workspace).where(Workspace.slug == slug))
        if workspace is None:
            raise WorkspaceNotFound
        return workspace

    def all(self) -> Sequence[Workspace]:
        return self.session.scalars(select(Workspace).order_by(Workspace.id)).all()

    def create(self, account: AccountLike, name: str, slug: str | None = None) -> Entry:
        """A new workspace that the account owns; without a slug it gets one like its name."""
        with transaction(self.session):
            self._keep_within_quotas(account)
            by = {"creator_id": account.id}
            if slug:
                workspace = self._insert(name, slug, **by)
            else:
                workspace = self._insert_named_like(name, **by)
            whose = {"account_id": account.id, "workspace_id": workspace.id}
            report_action(self.session, WORKSPACE_CREATED, **whose)
            return Entry(workspace, self._join(workspace, account))

    def create_common(self, name: str, slug: str, *, is_default: bool = False) -> Workspace:
        """A workspace without members, made by an operator. There is one common default."""
        with transaction(self.session):
            if is_default:
                self.session.execute(
                    update(Workspace)
                    .where(Workspace.is_default, Workspace.is_personal.is_(False))
                    .values(is_default=False)
                )
            workspace = self._insert(name, slug, is_default=is_default)
            report_action(self.session, WORKSPACE_CREATED, workspace_id=workspace.id)
            return workspace

    def welcome(self, account: AccountLike) -> Entry:
        """The workspace that a newly registered account finds: its own, and its current one."""
        name = account.email.partition("@")[0]
        with transaction(self.session):
            workspace = self._insert_named_like(name, is_default=True, is_personal=True)
            whose = {"account_id": account.id, "workspace_id": workspace.id}
            report_action(self.session, WORKSPACE_CREATED, **whose)
            member = self._join(workspace, account)
            if account.current_workspace_id is None:
                account.current_workspace_id = workspace.id
            return Entry(workspace, member)

    def bid_farewell(self, account: AccountLike) -> None:
        """Delete the account's own workspace, unless others are in it too."""
        own, others = aliased(Member), aliased(Member)
        alone = (
            select(own.workspace_id)
            .where(own.account_id == account.id)
            .where(
                ~exists().where(
                    others.workspace_id == own.workspace_id, others.account_id != account.id
                )
            )
        )
        with transaction(self.session):
            gone = self.session.scalars(
                delete(Workspace)
                .where(Workspace.is_personal, Workspace.id.in_(alone))
                .returning(Workspace.id)
                .execution_options(synchronize_session=False)
            ).all()
            for workspace_id in gone:
                whose = {"account_id": account.id, "workspace_id": workspace_id}
                report_action(self.session, WORKSPACE_DELETED, **whose)

    def switch(self, account: AccountLike, slug: str) -> Entry:
        """Make a workspace the account's current one; only an active member may."""
        with transaction(self.session):
            entry = self.enter(slug, account)
            if entry.member is None:
                raise NotAMember
            if not entry.member.is_active:
                raise MemberInactive
            account.current_workspace_id = entry.workspace.id
            return entry

    def _entries(self, which: Select[Workspace, Member], account: AccountLike) -> Sequence[Entry]:
        rows = self.session.execute(which, {"account_id": account.id})
        return [Entry(workspace, member) for workspace, member in rows]

    def _keep_within_quotas(self, account: AccountLike) -> None:
        """Holds the account, so that of two at once the second counts what the first has made."""
        model = self.accounts.model
        lock_row(self.session, model, model.id == account.id)
        per_day, in_all = self.settings.CREATED_PER_DAY, self.settings.CREATED_LIMIT
        made = self.session.scalars(
            select(Workspace.created_at)
            .where(Workspace.creator_id == account.id)
            .order_by(Workspace.created_at.desc())
            .limit(max(per_day, in_all))
        ).all()
        if len(made) >= in_all:
            raise QuotaReached
        if len(made) >= per_day:
            left = made[per_day - 1] + DAY - self.clock.now()
            if left > timedelta(0):
                raise TooManyWorkspaces(math.ceil(left.total_seconds()))

    def _insert(self, name: str, slug: str, **fields: object) -> Workspace:
        workspace = self._insert_free(name, slug, **fields)
        if workspace is None:
            raise SlugTaken
        return workspace

    def _insert_named_like(self, name: str, **fields: object) -> Workspace:
        """Two at once may like the same slug: the second goes on to its next suggestion."""
        for slug in suggestions(name):
            workspace = self._insert_free(name, slug, **fields)
            if workspace is not None:
                return workspace
        raise AssertionError("There is always a next suggestion")

    def _insert_free(self, name: str, slug: str, **fields: object) -> Workspace | None:
        return insert_new(
            self.session,
            Workspace,
            name=name[:NAME_LENGTH],
            slug=slug,
            created_at=self.clock.now(),
            **fields,
        )

    def _join(self, workspace: Workspace, account: AccountLike) -> Member:
        member = Member(
            workspace_id=workspace.id,
            account_id=account.id,
            type="owner",
            created_at=self.clock.now(),
        )
        self.session.add(member)
        self.session.flush()
        return member
