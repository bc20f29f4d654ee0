"""What workspaces add to registering, signing in and going; `Frontdesk.use_workspaces` hangs it in.

An application that needs only a part registers these functions itself, or calls them in hooks.
"""

from __future__ import annotations

from ..accounts.models import AccountLike
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.types import JsonObject, SignalOptions, Values
from .models import Member
from .service import Workspaces


def workspace_claims(account: AccountLike, session: AnySession) -> Values:
    """Claims hook: the claims inform the client, and the server does not read them back."""
    _, entry = service(Workspaces).at_sign_in(account)
    if entry is None or entry.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": entry.member.id, "workspace_id": entry.workspace.id}


def workspace_payload(payload: JsonObject, session: AnySession) -> Values:
    """Payload hook: `WorkspaceLoginRead` declares the fields that it adds."""
    entries, entry = service(Workspaces).at_sign_in(payload["account"])
    return {
        **payload,
        "user": _shown(entry.member) if entry and entry.member else None,
        "workspaces": entries,
        "current_workspace_id": entry.workspace.id if entry else None,
    }


def _shown(member: Member) -> JsonObject:
    """Plain values: a login schema that does not declare what a `user` is answers it as it is."""
    # Schemas are loaded at first use, not at the start.
    from .schemas import UserRead

    return {name: getattr(member, name) for name in UserRead().fields}


def make_default_workspace(account: AccountLike, options: SignalOptions) -> None:
    """Listener on `account-registered`."""
    service(Workspaces).welcome(account)


def delete_own_workspace(account: AccountLike, options: SignalOptions) -> None:
    """Listener on `account-deleted`."""
    service(Workspaces).bid_farewell(account)
