"""A copy of all that is held of the owner's account."""

from __future__ import annotations

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.web.operation import hidden
from ...exports.models import AccountExport
from ...exports.routes import exports_required
from ...exports.service import Exports
from ..actions import Perform, look, performs
from ..pages import fragment
from ..texts import _
from ..ways import go


def newest_export() -> AccountExport | None:
    return service(Exports).newest(caller().account.id)


@active_account_required
@exports_required
@hidden
def export_state() -> Response:
    """How far it is, for the page that waits for it."""
    return fragment("owner/export.html", export=newest_export())


@active_account_required
@hidden
def _account_page() -> Response:
    from .account import account_page

    return account_page()


@performs("exports.routes.create_export", refused=_account_page)
def ask_export(perform: Perform) -> Response:
    perform()
    return go(".account_page", _("Your copy is being made."), _anchor="data")


@active_account_required
@exports_required
@hidden
def fetch_export(export_id: int) -> Response:
    found: Response = look("exports.routes.get_export_file", export_id=export_id)
    return found
