"""What the owner says of the account, how the pages look to them, and what has happened lately."""

from __future__ import annotations

from flask import Response, request

from ...accounts.schemas import account_update
from ...audit.service import Records
from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.web.operation import anyone, hidden
from ...core.web.reading import instance
from ...exports.service import Exports
from ..api_calls import ApiCall, calls_api, get_from_api
from ..desk import Desk
from ..pages import page
from ..texts import _
from ..theme import choose_theme, theme
from ..ways import go, go_to, page_before, to
from .activity import deeds
from .languages import languages_to_choose, zones_to_choose

# Of what has happened; the rest has a page of its own.
_NEWEST = 5


@active_account_required
@hidden
def account_page() -> Response:
    account = get_from_api(account_api.get_account)
    account_id = caller().account.id
    recent = service(Records).of_oneself(account_id, None, _NEWEST)
    on = service(Desk).on
    return page(
        "owner/account.html",
        account=account,
        says=instance(account_update()).load_fields,
        languages=languages_to_choose(account.get("locale")),
        zones=zones_to_choose(account.get("time_zone")),
        theme=theme(),
        recent=deeds(recent.rows),
        is_more=recent.after is not None,
        export=service(Exports).newest(account_id) if on.exports else None,
    )


@calls_api(account_api.change_account, refused=account_page)
def change_details(call_api: ApiCall) -> Response:
    call_api()
    return go(".account_page", _("Your details are saved."))


@anyone
@hidden
def set_appearance() -> Response:
    """Of this browser alone: nothing of it is stored here."""
    response = go_to(page_before() or to(".account_page"), _("The pages look so from now on."))
    choose_theme(response, request.form.get("theme"))
    return response
