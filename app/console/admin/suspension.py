"""The form that suspends an account, until a date or until an admin lifts it."""

from datetime import timedelta

from flask import Response, request

from ...accounts.models import SUSPENDED, keeps_dates
from ...accounts.service import Accounts
from ...administration import routes as administration_api
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject
from ..api_calls import ApiCall, calls_api
from ..links import Undo, link_to, redirect_to
from ..pages import render_page
from ..texts import _
from .account import account_details, may_change
from .accounts import AT
from .filters import admins_only, start_of_day

UNTIL_DAY, WITHOUT_END = "day", "open"
DAYS = ("1", "7", "30")


@admins_only
def suspend_managed_account_page(account_id: AccountKey) -> Response:
    details = account_details(account_id)
    return render_page(
        "admin/suspend_account.html",
        at=AT,
        account=details,
        may_change=may_change(details, account_id),
        has_dates=keeps_dates(current_frontdesk.tables.account_model),
    )


@calls_api(administration_api.update_managed_account, form_page=suspend_managed_account_page)
def suspend_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    changed = call_api(json={"status": SUSPENDED, **sent_suspension()})
    url = link_to(".change_managed_account", account_id=account_id)
    undo = Undo(url, {"status": service(Accounts).active_status})
    text = _("Suspended {email} and ended its sessions.", email=changed["email"])
    return redirect_to(".managed_account_page", text, undo=undo, account_id=account_id)


def sent_suspension() -> JsonObject:
    """Return the end and the reason of the suspension in the form."""
    suspension: JsonObject = {}
    if until := _until():
        suspension["suspended_until"] = until
    if reason := request.form.get("suspended_reason", "").strip():
        suspension["suspended_reason"] = reason.replace("\r\n", "\n")
    return suspension


def _until() -> str:
    duration = request.form.get("length", WITHOUT_END)
    if duration in DAYS:
        until = current_frontdesk.clock.now() + timedelta(days=int(duration))
        return until.isoformat()
    if duration != UNTIL_DAY:
        return ""
    day = request.form.get("suspended_until", "")
    if not day:
        raise Invalid.about("suspended_until", _("Choose a date."))
    return start_of_day(day) or day
