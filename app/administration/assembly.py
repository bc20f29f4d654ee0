from sqlalchemy import ColumnElement, exists

from ..accounts.search import AccountFinder
from ..accounts.service import Accounts
from ..audit.service import AuditLog
from ..auth.email_change.service import EmailChanges
from ..auth.idp.identities import Identities
from ..auth.limits import AccountUnlock
from ..auth.recovery import Recovery
from ..auth.settings import AuthSettings
from ..auth.sign_in.sign_out import SignOut
from ..core.context import Context
from ..delivery.outbox.received import ReceivedDeliveries
from ..registration.verification import Verification
from ..workspaces.members import Members
from ..workspaces.ownership import Ownership
from ..workspaces.service import Workspaces
from .bulk import BulkAdministration
from .credentials import CredentialAdministration
from .filters import AccountFilters
from .search import AccountSearch
from .service import Administration
from .view import AccountView
from .workspaces import WorkspaceAdministration


def assemble(context: Context) -> None:
    context.provide(AccountView, _view)
    context.provide(AccountSearch, _search)
    context.provide(Administration, _administration)
    context.provide(CredentialAdministration, _credentials)
    context.provide(BulkAdministration, _bulk)
    context.provide(
        WorkspaceAdministration,
        lambda known: WorkspaceAdministration(known.get(Administration), known.get(Workspaces)),
    )


def _view(context: Context) -> AccountView:
    return AccountView(
        context.get(Accounts),
        context.get(ReceivedDeliveries),
        context.get(Workspaces),
        context.get(AuditLog),
    )


def _search(context: Context) -> AccountSearch:
    accounts = context.get(Accounts)
    return AccountSearch(
        accounts,
        context.get(AccountFinder),
        context.get(AccountView),
        context.tables.account_ids,
        AccountFilters(accounts, _has_factor(context, accounts)),
    )


def _administration(context: Context) -> Administration:
    return Administration(
        context.get(Accounts),
        context.get(Ownership),
        context.get(Recovery),
        context.get(AccountView),
        context.get(AccountUnlock),
        context.get(SignOut),
        context.get(Verification),
    )


def _credentials(context: Context) -> CredentialAdministration:
    return CredentialAdministration(
        context.session,
        context.get(Administration),
        context.get(EmailChanges),
        context.get(Identities),
    )


def _bulk(context: Context) -> BulkAdministration:
    administration, members = context.get(Administration), context.get(Members)
    return BulkAdministration(context.get(Accounts), administration, members)


def _has_factor(context: Context, accounts: Accounts) -> ColumnElement[bool] | None:
    if not context.settings.of(AuthSettings).keeps_authenticators:
        return None
    # Loaded only if MFA is enabled.
    from ..auth.mfa.models import Authenticator

    return exists().where(
        Authenticator.account_id == accounts.model.id, Authenticator.confirmed_at.is_not(None)
    )
