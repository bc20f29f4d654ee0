"""Suspending an account, for a while or until somebody ends it."""

from datetime import timedelta

from flask import Response, request

from ...accounts.models import SUSPENDED, keeps_dates
from ...accounts.service import Accounts
from ...administration import routes as administration_api
from ...administration.routes import administrators_only
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import Undo, go, to
from .account import details_of, may_change
from .accounts import AT
from .reading import moment_of_day

UNTIL_DAY, WITHOUT_END = "day", "open"
DAYS = ("1", "7", "30")


@administrators_only
@hidden
def suspend_managed_account_page(account_id: AccountKey) -> Response:
    details = details_of(account_id)
    return page(
        "admin/suspend_account.html",
        at=AT,
        account=details,
        may_change=may_change(details, account_id),
        has_dates=keeps_dates(current_frontdesk.tables.account_model),
    )


@calls_api(administration_api.update_managed_account, refused=suspend_managed_account_page)
def suspend_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    given: JsonObject = {"status": SUSPENDED}
    if until := _until():
        given["suspended_until"] = until
    if reason := request.form.get("suspended_reason", "").strip():
        given["suspended_reason"] = reason.replace("\r\n", "\n")
    changed = call_api(json=given)
    url = to(".change_managed_account", account_id=account_id)
    undo = Undo(url, {"status": service(Accounts).active_status})
    said = _("Suspended {email} and ended its sessions.", email=changed["email"])
    return go(".managed_account_page", said, undo=undo, account_id=account_id)


def _until() -> str:
    length = request.form.get("length", WITHOUT_END)
    if length in DAYS:
        until = current_frontdesk.clock.now() + timedelta(days=int(length))
        return until.isoformat()
    if length != UNTIL_DAY:
        return ""
    given = request.form.get("suspended_until", "")
    if not given:
        raise Invalid.about("suspended_until", "Say until which day.")
    return moment_of_day(given) or given
