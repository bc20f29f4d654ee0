"""Where an account is signed in."""

from __future__ import annotations

from flask import Response

from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ..actions import Perform, look, performs
from ..pages import page
from ..paging import Paging
from ..texts import _, _n
from ..ways import go

PER_PAGE = 25


@active_account_required
@hidden
def sessions_page() -> Response:
    paging = Paging.asked(PER_PAGE)
    found = look("auth.sessions.routes.list_sessions", query=paging.query)
    return page(
        "owner/security/sessions.html",
        at="security_page",
        # The one that looks stands on top.
        sessions=sorted(paging.shown(found), key=lambda each: not each["current"]),
        ways=paging.ways(found),
    )


@performs("auth.sessions.routes.end_session")
def end_own_session(perform: Perform, session_id: str) -> Response:
    ended = perform()
    if ended["current"]:
        return go(".sign_in_page", _("You are signed out."))
    device = ended["label"] or _("That device")
    return go(".sessions_page", _("{device} is signed out.", device=device))


@performs("auth.sessions.routes.end_sessions")
def end_other_sessions(perform: Perform) -> Response:
    ended = perform(query={"others": "true"})["ended"]
    return go(
        ".sessions_page",
        _n("One other device is signed out.", "{n} other devices are signed out.", ended),
    )
