"""What workspaces add to registering, signing in and going; `Frontdesk.use_workspaces` hangs it in.

A host that wants some of it only registers these itself, or calls them from hooks of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import g

from ..accounts.models import AccountLike
from ..core.desk import current_desk, service
from ..core.transaction import AnySession
from .lookup import Entry
from .models import Member
from .service import Workspaces

_READ = "frontdesk_workspaces"


def workspace_claims(account: AccountLike, session: AnySession) -> Mapping[str, Any]:
    """Claims hook. They inform the client; the server does not read them back."""
    workspaces = service(Workspaces)
    entries = workspaces.of(account)
    setattr(g, _READ, (account, entries))
    entry = workspaces.choose_current(account, entries)
    if entry is None or entry.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": entry.member.id, "workspace_id": entry.workspace.id}


def workspace_payload(payload: dict[str, Any], session: AnySession) -> Mapping[str, Any]:
    """Payload hook; `WorkspaceLoginRead` declares what it adds."""
    account: AccountLike = payload["account"]
    workspaces = service(Workspaces)
    entries = _read_just_now(account)
    if entries is None:
        entries = workspaces.of(account)
    entry = workspaces.choose_current(account, entries)
    return {
        **payload,
        "user": _shown(entry.member) if entry and entry.member else None,
        "workspaces": entries,
        "current_workspace_id": entry.workspace.id if entry else None,
    }


def _read_just_now(account: AccountLike) -> Sequence[Entry] | None:
    """What the claims hook found, where no hook of a host's may have changed it since."""
    read_for, entries = g.pop(_READ, (None, None))
    hooks = current_desk.hooks
    follows = hooks.claims[-1:] == [workspace_claims] and hooks.payload[:1] == [workspace_payload]
    return entries if follows and read_for is account else None


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
