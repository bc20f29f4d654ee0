"""Routes of account management by administrators."""

from collections.abc import Sequence

from flask.sansio.blueprints import BlueprintSetupState

from ..accounts.errors import AccountNotFound, EmailTaken, TooManyHashes
from ..accounts.password_rules import BreachedPassword, CommonPassword
from ..accounts.service import Accounts
from ..audit.schemas import OF_ANYBODY, EntryPage, RecordRead
from ..auth.blueprint import client_ip_address
from ..auth.caller import caller
from ..auth.decorators import passwords_required
from ..auth.errors import NotAuthorized, TooManyAttempts
from ..auth.scopes import ACCOUNTS_READ, ACCOUNTS_WRITE, AUDIT_READ, scope
from ..auth.settings import AuthSettings
from ..core.context import EXTENSION, service
from ..core.keystore import KeystoreUnavailable
from ..core.types import AccountKey
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Message, Page
from ..core.web.operation import example, raises
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import takes
from ..core.web.responses import answers
from ..workspaces.lookup import WorkspaceAccess
from . import schemas
from .rules import LastRoot, OwnAccount, SoleOwner, actor_of, administrators_only
from .schemas import (
    AccountCreate,
    AccountDeletionQuery,
    AccountDetails,
    AccountEdit,
    AccountQuery,
    ChangedAccount,
    DeliveryQuery,
    DeliveryRead,
    MembershipRead,
)
from .search import AccountSearch
from .service import Administration
from .view import AccountView, Details

blueprint = Blueprint(
    "administration", __name__, needs=Accounts, about="Account management by administrators"
)


@blueprint.get("/")
@administrators_only
@scope(ACCOUNTS_READ)
@example(answer=[schemas.DETAILS])
@takes(query=AccountQuery)
@reads_replica
@answers(200, AccountDetails, sliced=True, ready=True)
def list_managed_accounts(query: AccountQuery.Input) -> Slice:
    """List or search accounts

    Filters are combined with AND. `Link` continues after the last account of the page, so that no
    account is missing or repeated while others are created.
    """
    return service(AccountSearch).page(query)


@blueprint.post("/")
@administrators_only
@scope(ACCOUNTS_WRITE)
@example(json=schemas.NEW, answer=schemas.MADE)
@raises(NotAuthorized, EmailTaken, TooManyHashes, CommonPassword, BreachedPassword)
@takes(json=schemas.account_create)
@answers(201, AccountDetails, ready=True)
def create_managed_account(json: AccountCreate.Input) -> Details:
    """Create an account; only root creates admins

    Without a password, the owner chooses one before the first sign-in, with the email of `invite`
    or by password recovery.
    """
    return service(Administration).create(actor_of(caller()), **json)


@blueprint.get("/<account_id:account_id>")
@administrators_only
@scope(ACCOUNTS_READ)
@example(answer=schemas.DETAILS)
@raises(AccountNotFound)
@answers(200, AccountDetails, ready=True)
def get_managed_account(account_id: AccountKey) -> Details:
    """Get an account"""
    return service(AccountView).read(account_id)


@blueprint.patch("/<account_id:account_id>")
@administrators_only
@scope(ACCOUNTS_WRITE)
@example(json=schemas.SUSPEND, answer=schemas.SUSPENDED)
@raises(AccountNotFound, NotAuthorized, OwnAccount, LastRoot)
@takes(json=schemas.account_edit)
@answers(200, ChangedAccount, ready=True)
def update_managed_account(account_id: AccountKey, json: AccountEdit.Input) -> Details:
    """Update an account's role or status

    An account that is no longer active is signed out. Use the status `suspended` with
    `suspended_until` for a suspension that ends automatically. `workspaces_without_owner` names the
    workspaces that lose their only active owner.
    """
    return service(Administration).change(actor_of(caller()), account_id, json)


@blueprint.delete("/<account_id:account_id>")
@administrators_only
@example(answer=schemas.DETAILS)
@raises(AccountNotFound, NotAuthorized, OwnAccount, LastRoot, SoleOwner)
@takes(query=AccountDeletionQuery)
@answers(200, AccountDetails, ready=True)
def delete_managed_account(account_id: AccountKey, query: AccountDeletionQuery.Input) -> Details:
    """Delete an account with its data, and return it"""
    return service(Administration).delete(caller().account, account_id, **query)


@blueprint.post("/<account_id:account_id>/unlock")
@administrators_only
@example(answer=schemas.DETAILS)
@raises(AccountNotFound, NotAuthorized, OwnAccount, KeystoreUnavailable)
@answers(200, AccountDetails, ready=True)
def unlock_account(account_id: AccountKey) -> Details:
    """Reset an account's counters of wrong passwords and wrong second factors"""
    return service(Administration).unlock(caller().account, account_id)


@blueprint.post("/<account_id:account_id>/sign-out")
@administrators_only
@example(answer=schemas.DETAILS)
@raises(AccountNotFound, NotAuthorized, OwnAccount)
@answers(200, AccountDetails, ready=True)
def sign_out_account(account_id: AccountKey) -> Details:
    """End all tokens of an account permanently"""
    return service(Administration).sign_out(caller().account, account_id)


@blueprint.post("/<account_id:account_id>/recovery")
@passwords_required
@administrators_only
@example(answer=schemas.RECOVERY_SENT)
@raises(AccountNotFound, NotAuthorized, OwnAccount, TooManyAttempts, KeystoreUnavailable)
@answers(200, Message)
def recover_account(account_id: AccountKey) -> dict[str, str]:
    """Send the owner of an account a reset token and a short code"""
    service(Administration).recover(caller().account, account_id, client_ip_address())
    return {"message": "Password recovery email sent"}


@blueprint.post("/<account_id:account_id>/verify")
@administrators_only
@example(answer=schemas.DETAILS)
@raises(AccountNotFound, NotAuthorized, OwnAccount, KeystoreUnavailable)
@answers(200, AccountDetails, ready=True)
def verify_account(account_id: AccountKey) -> Details:
    """Mark an account's email address as verified, which activates a pending account"""
    return service(Administration).verify(caller().account, account_id)


@blueprint.get("/<account_id:account_id>/deliveries")
@administrators_only
@scope(ACCOUNTS_READ)
@example(answer=[schemas.DELIVERY])
@raises(AccountNotFound)
@takes(query=DeliveryQuery)
@answers(200, DeliveryRead, sliced=True, ready=True)
def list_account_deliveries(account_id: AccountKey, query: DeliveryQuery.Input) -> Slice:
    """List the deliveries to an account, the newest first"""
    return service(AccountView).deliveries(account_id, **query)


@blueprint.get("/<account_id:account_id>/memberships")
@administrators_only
@scope(ACCOUNTS_READ)
@example(answer=[schemas.MEMBERSHIP])
@raises(AccountNotFound)
@takes(query=Page)
@answers(200, MembershipRead, paged=True)
def list_account_memberships(
    account_id: AccountKey, query: Page.Input
) -> Sequence[WorkspaceAccess]:
    """List the workspaces of an account"""
    return service(AccountView).memberships(account_id, **query)


@blueprint.get("/<account_id:account_id>/events")
@administrators_only
@scope(AUDIT_READ)
@example(answer=[OF_ANYBODY])
@raises(AccountNotFound)
@takes(query=EntryPage)
@reads_replica
@answers(200, RecordRead, sliced=True, ready=True)
def list_account_events(account_id: AccountKey, query: EntryPage.Input) -> Slice:
    """List an account's audit log, the newest first"""
    return service(AccountView).events(account_id, query)


@blueprint.record
def add_credential_routes(state: BlueprintSetupState) -> None:
    """Import sessions and second factors only in an application that has one of them."""
    auth = state.app.extensions[EXTENSION].settings.of(AuthSettings)
    if auth.keeps_sessions or auth.keeps_authenticators:
        from .credential_routes import add_routes

        add_routes(state)
