"""Administrators' routes for the sessions and second factors of accounts."""

from collections.abc import Sequence

from flask.sansio.blueprints import BlueprintSetupState

from ..accounts.errors import AccountNotFound
from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import fresh_factor_required, superuser_required
from ..auth.errors import NotAuthorized
from ..auth.mfa import schemas as mfa_schemas
from ..auth.mfa.authenticators import Authenticators
from ..auth.sessions import schemas as session_schemas
from ..auth.sessions.management import BY_OPERATOR, OwnSession, SessionManagement
from ..core.context import EXTENSION, service
from ..core.types import AccountKey
from ..core.web.fields import Page
from ..core.web.operation import example, note_needs, raises, variables
from ..core.web.request_data import takes
from ..core.web.responses import answers
from .rules import OwnAccount, administrators_only
from .service import Administration


@administrators_only
@example(answer=[{**session_schemas.SESSION, "current": False}])
@raises(AccountNotFound)
@takes(query=Page)
@answers(200, session_schemas.SessionRead, paged=True)
def list_account_sessions(account_id: AccountKey, query: Page.Input) -> Sequence[OwnSession]:
    """List an account's sessions

    Returns the newest first.
    """
    account = service(Accounts).by_id(account_id)
    if account is None:
        raise AccountNotFound
    return service(SessionManagement).list(caller(), account, **query)


@administrators_only
@variables(session_id="ID of a session from `GET /admin/accounts/{account_id}/sessions`.")
@example(answer=session_schemas.SESSION)
@raises(AccountNotFound, NotAuthorized, OwnAccount, session_schemas.SessionNotFound)
@answers(200, session_schemas.SessionRead)
def end_account_session(account_id: AccountKey, session_id: str) -> OwnSession:
    """End a session of an account

    Signs the device out immediately and returns the ended session.
    """
    account = service(Administration).find(caller().account, account_id)
    return service(SessionManagement).end(caller(), account, session_id, BY_OPERATOR)


@superuser_required
@fresh_factor_required
@example(answer=mfa_schemas.RESET)
@raises(AccountNotFound, NotAuthorized)
@answers(200, mfa_schemas.FactorsReset)
def reset_authenticators(account_id: AccountKey) -> dict[str, int]:
    """Remove all second factors of an account, and end its sign-ins

    For users who have lost their authenticators. First verify the user's identity in another way.
    """
    removed = service(Authenticators).reset_by_admin(caller().account, account_id)
    return {"authenticators": removed}


def add_routes(state: BlueprintSetupState) -> None:
    context, account = state.app.extensions[EXTENSION], "/<account_id:account_id>"
    for method, rule, view, needed in (
        ("GET", f"{account}/sessions", list_account_sessions, SessionManagement),
        ("DELETE", f"{account}/sessions/<session_id>", end_account_session, SessionManagement),
        ("DELETE", f"{account}/authenticators", reset_authenticators, Authenticators),
    ):
        note_needs(view, needed)
        if context.has(needed):
            state.add_url_rule(
                rule, view_func=view, methods=[method], strict_slashes=False, merge_slashes=False
            )
