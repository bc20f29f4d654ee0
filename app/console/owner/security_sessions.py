"""The sessions of an account."""

from flask import Response

from ...auth.decorators import active_account_required
from ...auth.sessions import routes as sessions_api
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import Paging, redirect_to
from ..pages import render_page
from ..texts import _, _n, device_name

PER_PAGE = 25


@active_account_required
def sessions_page() -> Response:
    paging = Paging.from_request(PER_PAGE)
    found = get_from_api(sessions_api.list_sessions, query=paging.query)
    return render_page(
        "owner/security/sessions.html",
        at="security_page",
        # The current session is first.
        sessions=sorted(paging.visible(found), key=lambda each: not each["current"]),
        links=paging.links(found),
    )


@console_form(sessions_api.end_session)
def end_own_session(call_api: ApiCall, session_id: str) -> Response:
    ended = call_api()
    if ended["current"]:
        return redirect_to(".sign_in_page", _("You are signed out."))
    device = device_name(ended["label"]) or _("The device")
    return redirect_to(".sessions_page", _("Signed out {device}.", device=device))


@console_form(sessions_api.end_sessions)
def end_other_sessions(call_api: ApiCall) -> Response:
    ended = call_api(query={"others": "true"})["ended"]
    return redirect_to(
        ".sessions_page", _n("Signed out one other device.", "Signed out {n} other devices.", ended)
    )
