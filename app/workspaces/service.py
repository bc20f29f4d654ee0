import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import Select, bindparam, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.sqlstates import taken_columns
from ..core.db.transaction import (
    AnySession,
    after_commit,
    execute_bulk,
    insert_new,
    lock_row,
    transaction,
)
from ..core.errors import Invalid, QuotaReached
from ..core.types import AccountKey
from .actions import WORKSPACE_CREATED, WORKSPACE_DELETED, WORKSPACE_UPDATED
from .errors import MemberInactive, NotAMember, SlugTaken, TooManyWorkspaces, WorkspaceNotFound
from .lookup import WorkspaceAccess, find_access
from .members import Members
from .models import ACTIVE, NAME_LENGTH, OWNER, Member, Workspace
from .settings import WorkspacesSettings
from .slugs import suggest_slugs

# A sign-in returns this many; `/workspaces` lists all of them in pages.
MAX_AT_SIGN_IN = 100
DAY = timedelta(days=1)
NOT_THE_NAME = CodedMessage(
    "Not the workspace's name.", "invalid_format", expected="workspace_name"
)


class LogoDeleter(NamedTuple):
    """Deletes the stored logo of a workspace that was deleted or has another logo."""

    # Called with the name of the file.
    delete: Callable[[str], object]


class Workspaces:
    """Creates, changes and deletes workspaces, and finds those of an account."""

    def __init__(
        self,
        session: AnySession,
        accounts: Accounts,
        members: Members,
        clock: Clock,
        settings: WorkspacesSettings,
        find_logo_deleters: Callable[[], Sequence[LogoDeleter]],
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.members = members
        self.clock = clock
        self.settings = settings
        self.find_logo_deleters = find_logo_deleters
        # Built once, because each sign-in uses it twice.
        self._memberships = (
            select(Workspace, Member)
            .join(Member, Member.workspace_id == Workspace.id)
            .where(Member.account_id == bindparam("account_id"))
            .order_by(Member.id)
        )

    def first_page(self, account: AccountLike) -> Sequence[WorkspaceAccess]:
        """Return the account's first workspaces, by the age of the membership, and always the
        current one."""
        entries = self._read(self._memberships.limit(MAX_AT_SIGN_IN), account)
        current = account.current_workspace_id
        if len(entries) < MAX_AT_SIGN_IN or any(e.workspace.id == current for e in entries):
            return entries
        missing = self._read(self._memberships.where(Workspace.id == current), account)
        return [*entries[: MAX_AT_SIGN_IN - len(missing)], *missing]

    def set_current(
        self, account: AccountLike
    ) -> tuple[Sequence[WorkspaceAccess], WorkspaceAccess | None]:
        """Return the account's workspaces and its current workspace, within the sign-in's
        transaction. The first workspace becomes the current one of an account that has none, or
        that has left it."""
        entries = self.first_page(account)
        current = entries[0] if entries else None
        for entry in entries:
            if entry.workspace.id == account.current_workspace_id:
                current = entry
        if current is not None:
            account.current_workspace_id = current.workspace.id
        return entries, current

    def page(self, account: AccountLike, offset: int, limit: int) -> Sequence[WorkspaceAccess]:
        return self._read(self._memberships.offset(offset).limit(limit), account)

    def get(self, slug: str) -> Workspace:
        """Return the workspace with this slug. The slugs `current` and `default` are not found."""
        workspace = self.session.scalar(select(Workspace).where(Workspace.slug == slug))
        if workspace is None:
            raise WorkspaceNotFound
        return workspace

    def names(self, ids: Iterable[int | None]) -> dict[int, str]:
        """Return the names of the workspaces that still exist, by their ids."""
        known_ids = {each for each in ids if each is not None}
        if not known_ids:
            return {}
        query = select(Workspace.id, Workspace.name).where(Workspace.id.in_(known_ids))
        return {row[0]: row[1] for row in self.session.execute(query)}

    def of_member(
        self, account_id: AccountKey, ids: Iterable[int | None]
    ) -> dict[int, tuple[str, str]]:
        """Return the slug and the name of the workspaces of which an account is an active member,
        among those with these ids."""
        wanted = set(ids) - {None}
        if not wanted:
            return {}
        is_member = (Member.account_id == account_id, Member.status == ACTIVE)
        columns = select(Workspace.id, Workspace.slug, Workspace.name).join(
            Member, Member.workspace_id == Workspace.id
        )
        rows = self.session.execute(columns.where(Workspace.id.in_(wanted), *is_member))
        return {workspace_id: (slug, name) for workspace_id, slug, name in rows}

    def logo_files(self, slugs: Iterable[str]) -> dict[str, str]:
        """Return the names of the stored logos by the slugs of their workspaces."""
        wanted = set(slugs)
        if not wanted:
            return {}
        query = select(Workspace.slug, Workspace.logo_file).where(
            Workspace.slug.in_(wanted), Workspace.logo_file.is_not(None)
        )
        return {row[0]: str(row[1]) for row in self.session.execute(query)}

    def by_id(self, workspace_id: int) -> Workspace:
        workspace = self.session.get(Workspace, workspace_id)
        if workspace is None:
            raise WorkspaceNotFound
        return workspace

    def all(self) -> Sequence[Workspace]:
        return self.session.scalars(select(Workspace).order_by(Workspace.id)).all()

    def create(self, account: AccountLike, name: str, slug: str | None = None) -> WorkspaceAccess:
        """Create a workspace that the account owns. Without a slug, it gets one from its name."""
        with transaction(self.session):
            self._check_quotas(account)
            if slug:
                workspace = self._insert(name, slug, creator_id=account.id)
            else:
                workspace = self._insert_with_free_slug(name, creator_id=account.id)
            return self._add_owner(workspace, account)

    def create_common(self, name: str, slug: str, *, is_default: bool = False) -> Workspace:
        """Create a workspace without members, as an operator. There is one common default."""
        with transaction(self.session) as session:
            if is_default:
                session.execute(
                    update(Workspace)
                    .where(Workspace.is_default, Workspace.is_personal.is_(False))
                    .values(is_default=False)
                )
            workspace = self._insert(name, slug, is_default=is_default)
            report_action(session, WORKSPACE_CREATED, workspace_id=workspace.id)
            return workspace

    def create_personal(self, account: AccountLike) -> WorkspaceAccess:
        """Create the personal workspace of a new account, and make it the current one."""
        name = account.email.partition("@")[0]
        with transaction(self.session):
            workspace = self._insert_with_free_slug(name, is_default=True, is_personal=True)
            if account.current_workspace_id is None:
                account.current_workspace_id = workspace.id
            return self._add_owner(workspace, account)

    def delete_personal(self, account: AccountLike) -> None:
        """Delete the account's personal workspace, unless it has other members."""
        membership, others = aliased(Member), aliased(Member)
        without_others = (
            select(membership.workspace_id)
            .where(membership.account_id == account.id)
            .where(
                ~exists().where(
                    others.workspace_id == membership.workspace_id, others.account_id != account.id
                )
            )
        )
        with transaction(self.session) as session:
            deleted = execute_bulk(
                session,
                delete(Workspace)
                .where(Workspace.is_personal, Workspace.id.in_(without_others))
                .returning(Workspace.id, Workspace.logo_file),
            )
            for row in deleted.all():
                ids = {"account_id": account.id, "workspace_id": row.id}
                report_action(session, WORKSPACE_DELETED, **ids)
                self._delete_after_commit(row.logo_file)

    def switch(self, account: AccountLike, slug: str) -> WorkspaceAccess:
        """Make a workspace the current one of an active member."""
        with transaction(self.session) as session:
            entry = find_access(session, slug, account)
            if entry.member is None:
                raise NotAMember
            if not entry.member.is_active:
                raise MemberInactive
            account.current_workspace_id = entry.workspace.id
            return entry

    def update(self, actor: Member, name: str | None, slug: str | None) -> WorkspaceAccess:
        """Change the name or slug as a manager. Links with the former slug no longer work."""
        with transaction(self.session) as session:
            manager = self.members.manager(actor)
            workspace = session.get_one(Workspace, manager.workspace_id, populate_existing=True)
            values = {"name": name or workspace.name, "slug": slug or workspace.slug}
            changed = [key for key, value in values.items() if value != getattr(workspace, key)]
            for key in changed:
                setattr(workspace, key, values[key])
            if changed:
                self._flush()
                report_action(
                    session, WORKSPACE_UPDATED, workspace_id=workspace.id, changed=changed
                )
            return WorkspaceAccess(workspace, manager)

    def set_logo_file(self, actor: Member, name: str | None) -> Workspace:
        """Set or remove the stored logo as an owner. The former one is deleted after the commit."""
        with transaction(self.session) as session:
            owner = self.members.manager(actor)
            self.members.check_may_manage(owner, OWNER)
            workspace = session.get_one(Workspace, owner.workspace_id, populate_existing=True)
            if workspace.logo_file != name:
                self._delete_after_commit(workspace.logo_file)
                workspace.logo_file = name
                report_action(
                    session, WORKSPACE_UPDATED, workspace_id=workspace.id, changed=["logo"]
                )
            return workspace

    def delete(self, actor: Member, name: str | None = None) -> WorkspaceAccess:
        """Delete a workspace with its members and invitations, as an owner. The foreign keys of
        an application's tables decide what happens to its rows."""
        with transaction(self.session) as session:
            owner = self.members.manager(actor)
            self.members.check_may_manage(owner, OWNER)
            workspace = self._delete(owner.workspace_id, name, owner.account_id)
            session.expunge(owner)
            return WorkspaceAccess(workspace, owner)

    def delete_as_operator(self, workspace_id: int, name: str) -> None:
        """Delete a workspace without being a member. The name confirms the deletion."""
        with transaction(self.session):
            self.members.lock(workspace_id)
            self._delete(workspace_id, name)

    def _delete(
        self, workspace_id: int, name: str | None, account_id: AccountKey | None = None
    ) -> Workspace:
        workspace = self.session.get_one(Workspace, workspace_id, populate_existing=True)
        if name is not None and name != workspace.name:
            raise Invalid.about("name", NOT_THE_NAME)
        report_action(
            self.session,
            WORKSPACE_DELETED,
            account_id=account_id,
            workspace_id=workspace.id,
            # The name of a personal workspace can be that of a person.
            name=None if workspace.is_personal else workspace.name,
        )
        execute_bulk(self.session, delete(Workspace).where(Workspace.id == workspace.id))
        self._delete_after_commit(workspace.logo_file)
        self.session.expunge(workspace)
        return workspace

    def _delete_after_commit(self, logo_file: str | None) -> None:
        if logo_file is not None:
            for deleter in self.find_logo_deleters():
                after_commit(self.session, partial(deleter.delete, logo_file))

    def _read(
        self, query: Select[Workspace, Member], account: AccountLike
    ) -> Sequence[WorkspaceAccess]:
        rows = self.session.execute(query, {"account_id": account.id})
        return [WorkspaceAccess(workspace, member) for workspace, member in rows]

    def _check_quotas(self, account: AccountLike) -> None:
        """Lock the account, so that concurrent requests cannot exceed its quotas."""
        model = self.accounts.model
        lock_row(self.session, model, model.id == account.id)
        per_day, in_all = self.settings.CREATED_PER_DAY, self.settings.CREATED_LIMIT
        created = self.session.scalars(
            select(Workspace.created_at)
            .where(Workspace.creator_id == account.id)
            .order_by(Workspace.created_at.desc())
            .limit(max(per_day, in_all))
        ).all()
        if len(created) >= in_all:
            raise QuotaReached
        if len(created) >= per_day:
            left = created[per_day - 1] + DAY - self.clock.now()
            if left > timedelta(0):
                raise TooManyWorkspaces(math.ceil(left.total_seconds()))

    def _insert(self, name: str, slug: str, **fields: object) -> Workspace:
        workspace = self._insert_if_free(name, slug, **fields)
        if workspace is None:
            raise SlugTaken
        return workspace

    def _insert_with_free_slug(self, name: str, **fields: object) -> Workspace:
        """Try one suggested slug after the other: a concurrent request may take a free one."""
        for slug in suggest_slugs(name):
            workspace = self._insert_if_free(name, slug, **fields)
            if workspace is not None:
                return workspace
        raise AssertionError("The suggestions never end")

    def _insert_if_free(self, name: str, slug: str, **fields: object) -> Workspace | None:
        return insert_new(
            self.session,
            Workspace,
            name=name[:NAME_LENGTH],
            slug=slug,
            created_at=self.clock.now(),
            **fields,
        )

    def _add_owner(self, workspace: Workspace, account: AccountLike) -> WorkspaceAccess:
        report_action(
            self.session, WORKSPACE_CREATED, account_id=account.id, workspace_id=workspace.id
        )
        member = Member(
            account_id=account.id,
            workspace_id=workspace.id,
            type=OWNER,
            created_at=self.clock.now(),
        )
        self.session.add(member)
        self.session.flush()
        return WorkspaceAccess(workspace, member)

    def _flush(self) -> None:
        """Raise SlugTaken if a concurrent request has taken the slug."""
        try:
            self.session.flush()
        except IntegrityError as error:
            if any("slug" in name for name in taken_columns(error)):
                raise SlugTaken from None
            raise
