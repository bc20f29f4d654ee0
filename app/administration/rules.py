"""Which roles may manage which. Administrators see all accounts and cannot manage their own, and
the last active root is kept."""

from collections.abc import Sequence
from typing import NamedTuple

from ..accounts.models import ROOT, AccountLike, Viewer
from ..accounts.service import Accounts
from ..auth.caller import Caller
from ..auth.decorators import active_account_required, roles_required
from ..core.coded_messages import CodedMessage
from ..core.errors import Conflict, Forbidden
from ..core.types import AccountKey
from ..core.web.operation import View


class OwnAccount(Forbidden):
    """Administrators cannot manage their own account."""

    code = "own_account"
    detail = "Administrators cannot change their own account"
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
    """The account is the only active owner of shared workspaces, which are named by slug."""

    code = "sole_owner"
    detail = "The account is the only active owner of workspaces with other members"
    title = "The account is the only active owner of a workspace"
    cause = (
        "The account is the only active owner of the `workspaces` in the response, which have"
        " other members."
    )
    fix = "Make another member of each workspace an owner, or delete the workspace first."

    def __init__(self, slugs: Sequence[str] = ()) -> None:
        super().__init__(members={"workspaces": list(slugs)})


ADMINISTRATORS = (ROOT, "admin")


def may_manage_roles(actor: str, *roles: str) -> bool:
    """Return whether a role may create, change from and to, and delete roles: root manages all, and
    admins those without administrative rights, such as an application's."""
    return actor == ROOT or (actor in ADMINISTRATORS and not {*ADMINISTRATORS} & {*roles})


def administrators_only(view: View) -> View:
    return active_account_required(roles_required(*ADMINISTRATORS)(view))


class LimitedActor(NamedTuple):
    """A root who acts with a token: it manages no account with administrative rights, so that a
    program cannot make itself a sign-in with more rights than its token has."""

    id: AccountKey
    role: str


def actor_of(caller: Caller) -> Viewer:
    account = caller.account
    is_limited = caller.scopes is not None and account.role == ROOT
    return LimitedActor(account.id, "admin") if is_limited else account


def check_root_remains(accounts: Accounts, account: AccountLike) -> None:
    """Raise LastRoot if this account is the last active root. The transaction must have locked the
    name ROOT, so that two roots cannot be removed at once."""
    if accounts.is_last_root(account):
        raise LastRoot


def accounts_lack(what: str) -> CodedMessage:
    """Return the message for a column or a feature that the application's accounts do not have."""
    text = f"The accounts of this application have no {what}."
    return CodedMessage(text, "unknown_field", expected="account")
