"""The address that an account signs in with, and the way to another one."""

from __future__ import annotations

from flask import Response, request

from ...accounts.service import Accounts
from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.email_change.service import EmailChanges
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.web.operation import hidden
from ...registration import routes as registration_api
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import go
from .fresh_first import factor_first, is_fresh


@active_account_required
@hidden
@factor_first
def email_page() -> Response:
    account = caller().account
    return page(
        "owner/security/email.html",
        at="security_page",
        waiting=service(EmailChanges).waiting(account.id),
        is_proven=service(Accounts).has_proven_address(account),
        asks_password=account.password_hash is not None and not is_fresh(),
    )


@calls_api(account_api.request_email_change, refused=email_page)
def change_email(call_api: ApiCall) -> Response:
    call_api()
    email = request.form["email"].strip()
    return go(
        ".email_page", _("We have mailed {email}. Open the link there to confirm it.", email=email)
    )


@calls_api(registration_api.mail_verification, refused=email_page)
def mail_own_verification(call_api: ApiCall) -> Response:
    email = caller().account.email
    call_api(json={"email": email})
    return go(".email_page", _("A mail to {email} is on its way.", email=email))
