"""What workspaces add to registering, signing in and going; `Frontdesk.use_workspaces` hangs it in.

A host with hooks of its own calls these from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..accounts.models import AccountLike
from ..core.desk import service
from ..core.transaction import AnySession
from .service import Workspaces


def workspace_claims(account: AccountLike, session: AnySession) -> Mapping[str, Any]:
    """Claims hook. They inform the client; the server does not read them back."""
    entry = service(Workspaces).choose_current(account)
    if entry is None or entry.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": entry.member.id, "workspace_id": entry.workspace.id}


def workspace_payload(payload: dict[str, Any], session: AnySession) -> Mapping[str, Any]:
    """Payload hook; `WorkspaceLoginRead` declares what it adds."""
    account: AccountLike = payload["account"]
    workspaces = service(Workspaces)
    entry = workspaces.choose_current(account)
    return {
        **payload,
        "user": entry.member if entry else None,
        "workspaces": workspaces.of(account),
        "current_workspace_id": entry.workspace.id if entry else None,
    }


def make_default_workspace(account: AccountLike, options: dict[str, Any]) -> None:
    """Listener on `account-registered`."""
    service(Workspaces).welcome(account)


def delete_own_workspace(account: AccountLike, options: dict[str, Any]) -> None:
    """Listener on `account-deleted`."""
    service(Workspaces).bid_farewell(account)
