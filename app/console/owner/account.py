"""The owner's account: details, appearance, recent activity, data exports, and its deletion."""

from flask import Response, request

from ...accounts.schemas import account_update
from ...administration.rules import SoleOwner
from ...audit.service import Records
from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...core.errors import Fault
from ...core.web.operation import anyone, hidden
from ...core.web.request_data import schema_instance
from ...deletion import routes as deletion_api
from ...deletion.routes import deletion_required
from ...exports import routes as exports_api
from ...exports.routes import exports_required
from ...exports.service import Exports
from ..api_calls import ApiCall, calls_api, get_from_api
from ..cookies import choose_theme, theme
from ..desk import Desk
from ..page_globals import moment
from ..pages import fragment, page
from ..texts import _
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
    recent = service(Records).of_account(account_id, None, _NEWEST)
    on = service(Desk).on
    return page(
        "owner/account.html",
        account=account,
        says=schema_instance(account_update()).load_fields,
        languages=languages_to_choose(account.get("locale")),
        zones=zones_to_choose(account.get("time_zone")),
        theme=theme(),
        recent=deeds(recent.rows),
        is_more=recent.after is not None,
        export=service(Exports).latest_valid(account_id) if on.exports else None,
    )


@calls_api(account_api.change_account, refused=account_page)
def change_details(call_api: ApiCall) -> Response:
    call_api()
    return go(".account_page", _("Details saved."))


@anyone
@hidden
def set_appearance() -> Response:
    """Of this browser alone: nothing of it is stored here."""
    response = go_to(page_before() or to(".account_page"), _("Appearance saved."))
    choose_theme(response, request.form.get("theme"))
    return response


@active_account_required
@exports_required
@hidden
def export_state() -> Response:
    """How far it is, for the page that waits for it."""
    return fragment("owner/export.html", export=service(Exports).latest_valid(caller().account.id))


@calls_api(exports_api.create_export, refused=account_page)
def ask_export(call_api: ApiCall) -> Response:
    call_api()
    return go(".account_page", _("Your export is being created."), _anchor="data")


@active_account_required
@exports_required
@hidden
def fetch_export(export_id: int) -> Response:
    found: Response = get_from_api(exports_api.get_export_file, export_id=export_id)
    return found


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
            "Your account will be deleted on {day}. Until then, the link in our email restores it.",
            day=until,
        ),
    )
