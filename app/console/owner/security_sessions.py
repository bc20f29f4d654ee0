"""Where an account is signed in."""

from flask import Response

from ...auth.decorators import active_account_required
from ...auth.sessions import routes as sessions_api
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _, _n
from ..ways import Paging, go

PER_PAGE = 25


@active_account_required
@hidden
def sessions_page() -> Response:
    paging = Paging.asked(PER_PAGE)
    found = get_from_api(sessions_api.list_sessions, query=paging.query)
    return page(
        "owner/security/sessions.html",
        at="security_page",
        # The one that looks stands on top.
        sessions=sorted(paging.shown(found), key=lambda each: not each["current"]),
        ways=paging.ways(found),
    )


@calls_api(sessions_api.end_session)
def end_own_session(call_api: ApiCall, session_id: str) -> Response:
    ended = call_api()
    if ended["current"]:
        return go(".sign_in_page", _("You are signed out."))
    device = ended["label"] or _("The device")
    return go(".sessions_page", _("Signed out {device}.", device=device))


@calls_api(sessions_api.end_sessions)
def end_other_sessions(call_api: ApiCall) -> Response:
    ended = call_api(query={"others": "true"})["ended"]
    return go(
        ".sessions_page", _n("Signed out one other device.", "Signed out {n} other devices.", ended)
    )
