"""The end of the owner's account."""

from __future__ import annotations

from flask import Response

from ...administration.errors import SoleOwner
from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.errors import Fault
from ...core.web.operation import hidden
from ...deletion import routes as deletion_api
from ...deletion.routes import deletion_required
from ..api_calls import ApiCall, calls_api
from ..page_globals import moment
from ..pages import page
from ..texts import _
from ..ways import go


@active_account_required
@deletion_required
@hidden
def deletion_page() -> Response:
    return page(
        "owner/deletion.html",
        at="account_page",
        days=current_frontdesk.settings.of(AuthSettings).ACCOUNT_DELETION_DAYS,
        has_password=caller().attached_account.password_hash is not None,
    )


@calls_api(deletion_api.delete_account, refused=deletion_page)
def delete_account(call_api: ApiCall) -> Response:
    try:
        answer = call_api()
    except SoleOwner as problem:
        slugs = problem.members["workspaces"]
        problem.faults = [Fault("", "workspaces", slug) for slug in slugs]
        raise
    if "deletes_at" not in answer:
        return go(".sign_in_page", _("Your account is deleted."))
    until = moment(answer["deletes_at"])
    return go(
        ".sign_in_page",
        _(
            "Your account will be deleted on {day}. Until then the link in our mail keeps it.",
            day=until,
        ),
    )
