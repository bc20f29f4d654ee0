"""The users of identity providers who are linked to the owner's account."""

from flask import Response

from ...auth.decorators import active_account_required
from ...auth.idp import account_routes as identities_api
from ...core.web.operation import hidden
from ..api_calls import ApiCall, console_form
from ..links import link_to, redirect
from ..pages import render_page
from ..pending_links import PendingLink
from ..texts import _
from .step_up import require_recent_sign_in


@active_account_required
@hidden
@require_recent_sign_in
def link_page() -> Response:
    """Ask the owner to confirm the link of a sign-in that requires it."""
    return render_page("owner/security/link.html", provider=PendingLink.find().title)


@console_form(identities_api.confirm_link, page=link_page)
def confirm_link(call_api: ApiCall) -> Response:
    pending = PendingLink.find()
    call_api(json={"link_token": pending.token})
    PendingLink.delete()
    path = pending.next or link_to(".security_page")
    return redirect(path, _("You can now sign in with {provider}.", provider=pending.title))
