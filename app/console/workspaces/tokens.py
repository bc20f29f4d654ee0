"""The tokens of a workspace, for its owners and admins. All pages need a recent sign-in."""

from flask import Response

from ...auth import scopes
from ...core.context import service
from ...tokens import routes as tokens_api
from ...tokens.service import WorkspaceTokens
from ...workspaces.guards import current_workspace
from ...workspaces.models import MEMBER, OWNER
from ..api_calls import ApiCall, console_form
from ..links import redirect_to
from ..owner.step_up import require_recent_sign_in
from ..texts import _
from ..tokens import new_token_form, token_list
from .layout import assignable_types, managers_only, render_workspace_page

# All routes with such a scope need an account.
_FOR_ACCOUNTS = (
    *(scopes.ACCOUNT_READ, scopes.ACCOUNTS_READ, scopes.ACCOUNTS_WRITE, scopes.PROFILES_WRITE),
    *(scopes.NOTIFICATIONS_READ, scopes.NOTIFICATIONS_WRITE, scopes.NOTIFICATIONS_SEND),
)


@managers_only
@require_recent_sign_in
def workspace_tokens_page(workspace_slug: str) -> Response:
    tokens = service(WorkspaceTokens).list(current_workspace.id)
    return render_workspace_page("tokens.html", "tokens", **token_list(tokens))


@managers_only
@require_recent_sign_in
def new_workspace_token_page(workspace_slug: str) -> Response:
    return render_workspace_page(
        "token_new.html",
        "tokens",
        types=[each for each in assignable_types() if each != OWNER],
        type=MEMBER,
        **new_token_form(_FOR_ACCOUNTS),
    )


@console_form(tokens_api.create_workspace_token, page=new_workspace_token_page)
def create_workspace_token(call_api: ApiCall, workspace_slug: str) -> Response:
    """Show the token without a redirect, because the API returns it only once."""
    return render_workspace_page("token_shown.html", "tokens", created=call_api())


@console_form(tokens_api.end_workspace_token, page=workspace_tokens_page)
def end_workspace_token(call_api: ApiCall, workspace_slug: str, token_id: int) -> Response:
    text = _("Ended {name}.", name=call_api()["name"])
    return redirect_to(".workspace_tokens_page", text, workspace_slug=workspace_slug)
