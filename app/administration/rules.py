"""What one account may do to another, in one table. Who looks after anybody may look at all;
nobody looks after themselves, and the last active root stays."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from ..accounts.models import ROLES, AccountLike
from ..accounts.service import Accounts
from ..core.db.transaction import AnySession
from ..core.errors import Conflict, Forbidden


class OwnAccount(Forbidden):
    """What is one's own is changed elsewhere, or by somebody else."""

    code = "own_account"
    detail = "Nobody looks after their own account here"
    title = "Administrators cannot change their own account here"
    cause = "The admin API does not change the account that sends the request."
    fix = "Use the account routes for your own account, or ask another administrator."


class LastRoot(Conflict):
    code = "last_root"
    detail = "There must be an active root"
    title = "The last active root account must stay"
    cause = "The request would leave the service without an active account with the role `root`."
    fix = "Give another active account the role `root` first."


class SoleOwner(Conflict):
    """The document names the workspaces, each by its slug."""

    code = "sole_owner"
    detail = "The account is the only active owner of workspaces that others are in"
    title = "The account is the only active owner of a workspace"
    cause = (
        "The account is the only active owner of the `workspaces` in the response, which have"
        " other members."
    )
    fix = "Make another member of each workspace an owner, or delete the workspace first."

    def __init__(self, slugs: Sequence[str] = ()) -> None:
        super().__init__(members={"workspaces": list(slugs)})


ROOT = "root"

# Whom each role may make, change (what they are and what they become) and delete. Root also has
# accounts with a role of the application.
LOOKS_AFTER: dict[str, frozenset[str]] = {
    ROOT: frozenset(ROLES),
    "admin": frozenset({"user"}),
    "user": frozenset(),
}

ADMINISTRATORS = tuple(role for role in ROLES if LOOKS_AFTER[role])


def may_look_after(actor: str, *others: str) -> bool:
    return actor == ROOT or LOOKS_AFTER.get(actor, frozenset()).issuperset(others)


def keep_a_root(session: AnySession, accounts: Accounts, account: AccountLike) -> None:
    """Raise LastRoot if no other active root would be left without this account. Within a
    transaction that has locked the name ROOT, so that of two roots at once the second is counted
    after the first."""
    if account.role != ROOT:
        return
    model = accounts.model
    others = select(func.count(model.id)).where(
        model.role == ROOT, model.status.in_(accounts.active_statuses), model.id != account.id
    )
    if not session.scalar(others):
        raise LastRoot
