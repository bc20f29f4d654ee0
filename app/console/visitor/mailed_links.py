"""What else the links of our mails lead to. Scanners open them too, so that each page asks for a
press on its button before anything is done."""

from __future__ import annotations

from flask import Response, request

from ...auth import account_routes as account_api
from ...core.web.operation import anyone, hidden
from ...deletion import routes as deletion_api
from ..api_calls import ApiCall, calls_api
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import go
from .arriving import arrive, arrived


@anyone
@hidden
def confirm_email_page() -> Response:
    somebody_is_in()
    return page("visitor/confirm_email.html", token=_token())


@calls_api(account_api.confirm_email_change, refused=confirm_email_page)
def confirm_new_email(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api(), _("Your new address is confirmed. Sign in with it from now on."))


@anyone
@hidden
def undo_email_page() -> Response:
    return page("visitor/undo_email.html", token=_token())


@calls_api(account_api.undo_email_change, refused=undo_email_page)
def undo_new_email(call_api: ApiCall) -> Response:
    call_api()
    return page("visitor/email_undone.html")


@anyone
@hidden
def keep_account_page() -> Response:
    return page("visitor/keep_account.html", token=_token())


@calls_api(deletion_api.restore_account, refused=keep_account_page)
def keep_account(call_api: ApiCall) -> Response:
    call_api()
    return go(".sign_in_page", _("Your account is kept. Welcome back."))


def _token() -> str:
    return request.values.get("token", "")
