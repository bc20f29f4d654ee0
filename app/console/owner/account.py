"""What the owner says of the account, how the pages look to them, and what has happened lately."""

from __future__ import annotations

from flask import Response, request

from ...accounts.schemas import account_update
from ...audit.service import Records
from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...auth.sessions.cross_site import is_plain
from ...core.context import service
from ...core.web.operation import anyone, hidden
from ...core.web.reading import instance
from ..actions import Perform, look, performs
from ..desk import Desk
from ..pages import page
from ..texts import _
from ..ways import go, go_to, page_before, to
from .activity import deeds
from .exports import newest_export
from .languages import languages_to_choose, zones_to_choose

# Read by the layout, and set by a script too.
THEME = "fd-theme"
THEMES = ("light", "dark")
_A_YEAR = 365 * 24 * 3600
# Of what has happened; the rest has a page of its own.
_NEWEST = 5


@active_account_required
@hidden
def account_page() -> Response:
    account = look("auth.account_routes.get_account")
    recent = service(Records).of_oneself(caller().account.id, None, _NEWEST)
    on = service(Desk).on
    return page(
        "owner/account.html",
        account=account,
        says=instance(account_update()).load_fields,
        languages=languages_to_choose(account.get("locale")),
        zones=zones_to_choose(account.get("time_zone")),
        theme=request.cookies.get(THEME),
        recent=deeds(recent.rows),
        is_more=recent.after is not None,
        export=newest_export() if on.exports else None,
    )


@performs("auth.account_routes.change_account", refused=account_page)
def change_details(perform: Perform) -> Response:
    perform()
    return go(".account_page", _("Your details are saved."))


@anyone
@hidden
def set_appearance() -> Response:
    """Of this browser alone: nothing of it is stored here."""
    response = go_to(page_before() or to(".account_page"), _("The pages look so from now on."))
    chosen = request.form.get("theme")
    if chosen in THEMES:
        response.set_cookie(
            THEME, chosen, max_age=_A_YEAR, secure=not is_plain(request), samesite="Lax"
        )
    else:
        response.delete_cookie(THEME, secure=not is_plain(request), samesite="Lax")
    return response
