"""A copy of all that is held of the owner's account."""

from __future__ import annotations

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.web.operation import hidden
from ...exports import routes as exports_api
from ...exports.routes import exports_required
from ...exports.service import Exports
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import fragment
from ..texts import _
from ..ways import go
from .account import account_page


@active_account_required
@exports_required
@hidden
def export_state() -> Response:
    """How far it is, for the page that waits for it."""
    return fragment("owner/export.html", export=service(Exports).newest(caller().account.id))


@calls_api(exports_api.create_export, refused=account_page)
def ask_export(call_api: ApiCall) -> Response:
    call_api()
    return go(".account_page", _("Your copy is being made."), _anchor="data")


@active_account_required
@exports_required
@hidden
def fetch_export(export_id: int) -> Response:
    found: Response = get_from_api(exports_api.get_export_file, export_id=export_id)
    return found
