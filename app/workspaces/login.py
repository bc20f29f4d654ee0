"""Hooks and listeners that add workspaces to registration and sign-in.

`Frontdesk.use_workspaces` registers all of them. An application that needs only some registers
these itself, or calls them in its hooks.
"""

from typing import cast

from ..accounts.models import AccountLike
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.types import JsonObject, SignalOptions, Values
from .models import Member
from .service import Workspaces


def workspace_claims(account: object, session: AnySession) -> Values:
    """Return the claims of a sign-in with workspaces, for the hook `claims`.

    `Frontdesk.use_workspaces` registers it. The claims are for the client: the server ignores them.

    Args:
        account: The account that signs in.
        session: The database session.

    Returns:
        The claims `user_id` (the id of the membership) and `workspace_id`.

    Example::

        frontdesk.claims(workspace_claims)
    """
    _, current = service(Workspaces).set_current(cast(AccountLike, account))
    if current is None or current.member is None:
        return {"user_id": None, "workspace_id": None}
    return {"user_id": current.member.id, "workspace_id": current.workspace.id}


def workspace_payload(payload: JsonObject, session: AnySession) -> Values:
    """Return the sign-in response with the workspaces of the account, for the hook `payload`.

    `Frontdesk.use_workspaces` registers it. `WorkspaceLoginRead` declares the added members.

    Args:
        payload: The response of the sign-in.
        session: The database session.

    Returns:
        The response with `user`, `workspaces` and `current_workspace_id`.

    Example::

        frontdesk.payload(workspace_payload)
    """
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


def make_default_workspace(account: object, options: SignalOptions) -> None:
    """Create the default workspace of a new account, as a listener for `account-registered`.

    `Frontdesk.use_workspaces` registers it.

    Args:
        account: The new account.
        options: The options of the signal.

    Example::

        frontdesk.on("account-registered")(make_default_workspace)
    """
    service(Workspaces).create_personal(cast(AccountLike, account))


def delete_own_workspace(account: AccountLike, options: SignalOptions) -> None:
    """Listener on `account-deleted`."""
    service(Workspaces).delete_personal(account)
