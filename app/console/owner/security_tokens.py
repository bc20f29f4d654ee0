"""The personal tokens of an account: a list, and a page that shows a new token once."""

from collections.abc import Sequence

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.scopes import ACCOUNTS_READ, ACCOUNTS_WRITE, NOTIFICATIONS_SEND
from ...core.context import service
from ...tokens import routes as tokens_api
from ...workspaces.service import Workspaces
from ..api_calls import ApiCall, console_form
from ..links import redirect_to
from ..navigation import ADMINS
from ..pages import render_page
from ..resources import ConsoleResources
from ..texts import _
from ..tokens import ended_text, new_token_form, personal_tokens, token_list
from .step_up import require_recent_sign_in

AT = "tokens_page"
# Without one of these roles, a token with such a scope is rejected by all routes.
_FOR_ADMINS = (NOTIFICATIONS_SEND, ACCOUNTS_READ, ACCOUNTS_WRITE)


@active_account_required
def tokens_page() -> Response:
    return render_page(
        "owner/security/tokens.html",
        is_after_change="changed" in request.args,
        **token_list(personal_tokens(caller().account.id)),
    )


@active_account_required
@require_recent_sign_in
def new_token_page() -> Response:
    return render_page(
        "owner/security/token_new.html",
        at=AT,
        workspaces=_workspace_choices(),
        **new_token_form(() if caller().account.role in ADMINS else _FOR_ADMINS),
    )


def _workspace_choices() -> Sequence[tuple[str, str]]:
    if not service(ConsoleResources).features.has(".workspaces_page"):
        return ()
    found = service(Workspaces).first_page(caller().account)
    return [
        (each.workspace.slug, each.workspace.name)
        for each in found
        if each.member is not None and each.member.is_active
    ]


@console_form(tokens_api.create_personal_token, page=new_token_page)
def create_own_token(call_api: ApiCall) -> Response:
    """Show the token without a redirect, because the API returns it only once."""
    return render_page("owner/security/token_shown.html", at=AT, created=call_api())


@console_form(tokens_api.end_personal_token, page=tokens_page)
def end_own_token(call_api: ApiCall, token_id: int) -> Response:
    return redirect_to(f".{AT}", _("Ended {name}.", name=call_api()["name"]))


@console_form(tokens_api.end_personal_tokens, page=tokens_page)
def end_own_tokens(call_api: ApiCall) -> Response:
    return redirect_to(f".{AT}", ended_text(call_api()["ended"]))
