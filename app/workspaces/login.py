"""What workspaces add to registering, signing in and going; `Frontdesk.use_workspaces` hangs it in.

A host that wants some of it only registers these itself, or calls them from hooks of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..accounts.models import AccountLike
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.hooks import takes_shared
from .lookup import Entry
from .models import Member
from .service import Workspaces

_OURS = "workspaces"


@takes_shared
def workspace_claims(
    account: AccountLike, session: AnySession, shared: dict[str, Any] | None = None
) -> Mapping[str, Any]:
    """Claims hook. They inform the client; the server does not read them back."""
    _, entry = _read(account, shared)
    if entry is None or entry.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": entry.member.id, "workspace_id": entry.workspace.id}


@takes_shared
def workspace_payload(
    payload: dict[str, Any], session: AnySession, shared: dict[str, Any] | None = None
) -> Mapping[str, Any]:
    """Payload hook; `WorkspaceLoginRead` declares what it adds."""
    entries, entry = _read(payload["account"], shared)
    return {
        **payload,
        "user": _shown(entry.member) if entry and entry.member else None,
        "workspaces": entries,
        "current_workspace_id": entry.workspace.id if entry else None,
    }


def _read(
    account: AccountLike, shared: dict[str, Any] | None
) -> tuple[Sequence[Entry], Entry | None]:
    """The account's workspaces and the current one of them, asked once for each sign-in."""
    shared = {} if shared is None else shared
    if _OURS not in shared:
        workspaces = service(Workspaces)
        entries = workspaces.first_of(account)
        shared[_OURS] = entries, workspaces.choose_current(account, entries)
    found: tuple[Sequence[Entry], Entry | None] = shared[_OURS]
    return found


def _shown(member: Member) -> dict[str, Any]:
    """Plain values: a login schema that does not declare what a `user` is answers it as it is."""
    # Schemas are loaded by whoever needs one, and not at the start.
    from .schemas import UserRead

    return {name: getattr(member, name) for name in UserRead().fields}


def make_default_workspace(account: AccountLike, options: dict[str, Any]) -> None:
    """Listener on `account-registered`."""
    service(Workspaces).welcome(account)


def delete_own_workspace(account: AccountLike, options: dict[str, Any]) -> None:
    """Listener on `account-deleted`."""
    service(Workspaces).bid_farewell(account)
