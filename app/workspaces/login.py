"""Hooks and listeners that add workspaces to registration and sign-in.

`Frontdesk.use_workspaces` registers all of them. An application that needs only some registers
these itself, or calls them in its hooks.
"""

from ..accounts.models import AccountLike
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.types import JsonObject, SignalOptions, Values
from .models import Member
from .service import Workspaces


def workspace_claims(account: AccountLike, session: AnySession) -> Values:
    """Claims hook: the claims inform the client, and the server does not read them back."""
    _, current = service(Workspaces).set_current(account)
    if current is None or current.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": current.member.id, "workspace_id": current.workspace.id}


def workspace_payload(payload: JsonObject, session: AnySession) -> Values:
    """Payload hook: `WorkspaceLoginRead` declares the fields that it adds."""
    workspaces, current = service(Workspaces).set_current(payload["account"])
    return {
        **payload,
        "user": _to_dict(current.member) if current and current.member else None,
        "workspaces": workspaces,
        "current_workspace_id": current.workspace.id if current else None,
    }


def _to_dict(member: Member) -> JsonObject:
    """Return plain values, which also serialize with a login schema that has no `user` field."""
    # Schemas are loaded at first use, not at the start.
    from .schemas import UserRead

    return {name: getattr(member, name) for name in UserRead().fields}


def make_default_workspace(account: AccountLike, options: SignalOptions) -> None:
    """Listener on `account-registered`."""
    service(Workspaces).create_personal(account)


def delete_own_workspace(account: AccountLike, options: SignalOptions) -> None:
    """Listener on `account-deleted`."""
    service(Workspaces).delete_personal(account)
