"""The owner's account: details, appearance, recent activity, data exports, and its deletion."""

from flask import Response, request

from ...accounts.schemas import account_update
from ...accounts.service import Accounts
from ...audit.service import AuditLog
from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...core.web.operation import anyone
from ...core.web.paging import Slice
from ...core.web.request_data import schema_instance
from ...deletion import routes as deletion_api
from ...deletion.routes import deletion_required
from ...exports import routes as exports_api
from ...exports.routes import exports_required
from ...exports.service import Exports
from ...workspaces.ownership import Ownership
from ..api_calls import ApiCall, console_form, get_from_api
from ..cookies import browser_zone, choose_theme, theme
from ..form_fields import own_details
from ..links import link_to, previous_path, redirect, redirect_to
from ..page_globals import moment
from ..pages import render_fragment, render_page
from ..resources import ConsoleResources
from ..texts import _, use_language
from .activity import activity_entries
from .languages import language_choices, time_zone_choices

# The number of entries on this page; the others have their own page.
_NEWEST = 5


@active_account_required
def account_page() -> Response:
    account = get_from_api(account_api.get_account)
    account_id = caller().account.id
    features = service(ConsoleResources).features
    recent = Slice([])
    if features.has(".activity_page"):
        recent = service(AuditLog).of_account(account_id, {"limit": _NEWEST})
    return render_page(
        "owner/account.html",
        account=account,
        fields=schema_instance(account_update()).load_fields,
        own=own_details(account_id, may_change=True),
        languages=language_choices(account.get("locale")),
        zones=time_zone_choices(account.get("time_zone")),
        browser_zone=browser_zone(),
        theme=theme(),
        recent=activity_entries(recent.rows),
        is_more=recent.after is not None,
        export=service(Exports).latest_valid(account_id) if features.exports else None,
    )


@console_form(account_api.change_account, page=account_page)
def change_details(call_api: ApiCall) -> Response:
    changed = call_api()
    use_language(changed.get("locale"))
    return redirect_to(".account_page", _("Details saved."))


@console_form()
@anyone
def set_appearance() -> Response:
    """Set the color scheme of this browser; the service stores nothing."""
    response = redirect(previous_path() or link_to(".account_page"), _("Appearance saved."))
    choose_theme(response, request.form.get("theme"))
    return response


@active_account_required
@exports_required
def export_state() -> Response:
    """Return the state of the export for the page that polls it."""
    return render_fragment(
        "owner/export.html", export=service(Exports).latest_valid(caller().account.id)
    )


@console_form(exports_api.create_export, page=account_page)
def ask_export(call_api: ApiCall) -> Response:
    call_api()
    return redirect_to(".account_page", _("Your export is being created."), _anchor="data")


@active_account_required
@exports_required
def fetch_export(export_id: int) -> Response:
    found: Response = get_from_api(exports_api.get_export_file, export_id=export_id)
    return found


@active_account_required
@deletion_required
def deletion_page() -> Response:
    accounts, account = service(Accounts), caller().attached_account
    return render_page(
        "owner/deletion.html",
        at="account_page",
        is_last_root=accounts.is_last_root(account),
        owned=service(Ownership).solely_owned(account.id),
        days=current_frontdesk.settings.of(AuthSettings).ACCOUNT_DELETION_DAYS,
        has_password=accounts.has_usable_password(account),
    )


@console_form(deletion_api.delete_account, page=deletion_page)
def delete_account(call_api: ApiCall) -> Response:
    result = call_api()
    if "deletes_at" not in result:
        return redirect_to(".sign_in_page", _("Your account is deleted."))
    until = moment(result["deletes_at"])
    return redirect_to(
        ".sign_in_page",
        _(
            "Your account will be deleted on {day}. Until then, the link in our email restores it.",
            day=until,
        ),
    )
