"""The page of the unsubscribe link in an email, for people who need not be signed in.

It never shows the email address: forwarded emails have the link too.
"""

from flask import Response, request

from ...core.context import service
from ...core.web.operation import anyone
from ...notifications import unsubscribe_routes as unsubscribe_api
from ...notifications.errors import InvalidUnsubscribeLink
from ...notifications.unsubscribe import Unsubscribing
from ..api_calls import ApiCall, console_form
from ..links import redirect_to
from ..page_globals import kind_name
from ..pages import expired_link_page, render_page
from ..texts import _


@anyone
def unsubscribe_page() -> Response:
    token = _token()
    try:
        state = service(Unsubscribing).read(token)
    except InvalidUnsubscribeLink:
        text = _("The link is incomplete, or the account was deleted.")
        # It does not expire: it ends with the account.
        title = _("The unsubscribe link is not valid")
        return expired_link_page(text, _("Go to the start page"), ".home", title)
    shown = {**state, "name": kind_name(state["kind"])}
    return render_page("visitor/unsubscribe.html", **shown, token=token)


@console_form(unsubscribe_api.unsubscribe, page=unsubscribe_page)
def unsubscribe_by_link(call_api: ApiCall) -> Response:
    call_api(token=_token())
    return redirect_to(".unsubscribe_page", token=_token())


@console_form(unsubscribe_api.undo_unsubscribe, page=unsubscribe_page)
def undo_unsubscribe_by_link(call_api: ApiCall) -> Response:
    call_api(token=_token())
    return redirect_to(".unsubscribe_page", token=_token())


def _token() -> str:
    return request.values.get("token", "")
