from sqlalchemy import ColumnElement, exists

from ..accounts.service import Accounts
from ..audit.service import Records
from ..auth.limits import AccountUnlock
from ..auth.recovery import Recovery
from ..auth.settings import AuthSettings
from ..auth.sign_in.sign_out import SignOut
from ..core.context import Context
from ..delivery.outbox.received import ReceivedDeliveries
from ..registration.verification import Verification
from ..workspaces.ownership import Ownership
from ..workspaces.service import Workspaces
from .search import AccountSearch
from .service import Administration
from .view import AccountView


def assemble(context: Context) -> None:
    """Add the services when this blueprint or the console is mounted first."""
    if context.has(AccountView):
        return
    accounts, recovery = context.get(Accounts), context.get(Recovery)
    view = AccountView(
        accounts, context.get(ReceivedDeliveries), context.get(Workspaces), context.get(Records)
    )
    context.add(view)
    context.add(
        AccountSearch(accounts, view, context.tables.account_ids, _has_factor(context, accounts))
    )
    context.add(
        Administration(
            accounts,
            context.get(Ownership),
            recovery,
            view,
            context.get(AccountUnlock),
            context.get(SignOut),
            context.get(Verification),
        )
    )


def _has_factor(context: Context, accounts: Accounts) -> ColumnElement[bool] | None:
    if not context.settings.of(AuthSettings).keeps_authenticators:
        return None
    # Loaded only if MFA is enabled.
    from ..auth.mfa.models import Authenticator

    return exists().where(
        Authenticator.account_id == accounts.model.id, Authenticator.confirmed_at.is_not(None)
    )
