"""Finds the workspace for a slug and an account, with the account's membership."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, exists, or_, select

from ..accounts.models import AccountLike
from ..auth.actions import ACCESS_REFUSED
from ..core.actions import TOKEN_ACTOR
from ..core.audit_log.models import AuditEntry
from ..core.db.transaction import AnySession
from .errors import NoWorkspace, WorkspaceNotFound
from .models import OWNER, Member, Workspace
from .slugs import CURRENT, DEFAULT, is_slug


def is_entry_of(workspace_id: object) -> ColumnElement[bool]:
    """Return the condition for the audit log entries that belong to a workspace.

    Earlier versions also stored the workspace with rejected requests of other accounts, which its
    managers must not learn.
    """
    actor_is_member = exists().where(
        Member.workspace_id == AuditEntry.workspace_id, Member.account_id == AuditEntry.actor_id
    )
    # The entries of a workspace's token are in the audit log of that workspace.
    by_token = AuditEntry.actor_kind == TOKEN_ACTOR
    return and_(
        AuditEntry.workspace_id == workspace_id,
        or_(AuditEntry.type != ACCESS_REFUSED.name, by_token, actor_is_member),
    )


class WorkspaceAccess(NamedTuple):
    """A workspace, with the account's membership or without."""

    workspace: Workspace
    member: Member | None


def find_access(
    session: AnySession, slug: str | None, account: AccountLike | None, own_id: int | None = None
) -> WorkspaceAccess:
    """Find a workspace with one query. Raises NoWorkspace or WorkspaceNotFound.

    `own_id` is the workspace of a caller without an account: its current and default one.
    """
    if not slug:
        raise NoWorkspace
    if own_id is not None and slug in (CURRENT, DEFAULT):
        workspace = session.get(Workspace, own_id)
        if workspace is None:
            raise WorkspaceNotFound
        return WorkspaceAccess(workspace, None)
    row = session.execute(_query(slug, account)).first()
    if row is None:
        raise WorkspaceNotFound
    return WorkspaceAccess(row[0], row[1])


def _query(slug: str, account: AccountLike | None) -> Select[Workspace, Member]:
    account_id = account.id if account is not None else None
    joined = select(Workspace, Member).outerjoin(
        Member, and_(Member.workspace_id == Workspace.id, Member.account_id == account_id)
    )
    if slug == CURRENT:
        return joined.where(Workspace.id == _current_id(account))
    if slug == DEFAULT:
        return joined.where(_may_be_default()).order_by(*_personal_first()).limit(1)
    if not is_slug(slug):
        raise WorkspaceNotFound
    return joined.where(Workspace.slug == slug)


def _current_id(account: AccountLike | None) -> int:
    if account is None or account.current_workspace_id is None:
        raise NoWorkspace
    return account.current_workspace_id


def _may_be_default() -> ColumnElement[bool]:
    """A personal default workspace is the default of its owner only."""
    common = Workspace.is_personal.is_(False)
    return and_(Workspace.is_default, or_(common, Member.id.is_not(None)))


def _personal_first() -> tuple[Any, ...]:
    """Order by the account's personal workspace (its first membership), then the common one."""
    rank = case(
        (and_(Workspace.is_personal, Member.type == OWNER), 0),
        (and_(Workspace.is_personal.is_(False), Member.id.is_not(None)), 1),
        (Workspace.is_personal.is_(False), 2),
        else_=3,
    )
    return rank, Member.id, Workspace.id


def find_ids(session: AnySession, slugs: Collection[str]) -> dict[str, int]:
    """Return the ids of the workspaces with these slugs, by slug."""
    named = select(Workspace.slug, Workspace.id).where(Workspace.slug.in_(slugs))
    return {row.slug: row.id for row in session.execute(named)}
