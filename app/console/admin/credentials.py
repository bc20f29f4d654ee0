"""The forms that change the email address and the linked identities of an account."""

from typing import TypedDict

from flask import Response, request

from ...administration.credentials import CredentialAdministration
from ...auth.caller import caller
from ...auth.email_change.service import EmailChanges
from ...auth.mfa.routes import fresh_factor_required
from ...core.context import service
from ...core.types import AccountKey
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text
from ...core.web.request_data import takes
from ..api_calls import ApiCall, calls_api, show_form_again
from ..owner.step_up import require_recent_sign_in
from ..pages import render_page
from ..texts import _
from .account import account_details, managed_account_page, may_change, redirect_to_account
from .accounts import AT
from .filters import admins_only

CONFIRM, VERIFIED = "confirm", "verified"


class NewAddress(RequestSchema):
    class Input(TypedDict):
        email: str
        method: str

    email = Text(min=1, max=320, strip=True, required=True)
    method = EnumField(NamedEnum("NewAddressMethod", (CONFIRM, VERIFIED)), load_default=CONFIRM)


@admins_only
@require_recent_sign_in
def managed_email_page(account_id: AccountKey) -> Response:
    details = account_details(account_id)
    return render_page(
        "admin/change_email.html",
        at=AT,
        account=details,
        waiting=service(EmailChanges).waiting(account_id),
        may_change=may_change(details, account_id),
    )


@admins_only
@fresh_factor_required
@takes(form=NewAddress)
def _change_email(account_id: AccountKey, form: NewAddress.Input) -> None:
    credentials, actor = service(CredentialAdministration), caller().account
    if form["method"] == VERIFIED:
        credentials.set_email(actor, account_id, form["email"])
    else:
        credentials.request_email(actor, account_id, form["email"])


@calls_api(_change_email, form_page=managed_email_page)
def change_managed_email(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    email = request.form["email"].strip()
    if request.form.get("method") == VERIFIED:
        text = _("The email address is now {email}. All sessions have ended.", email=email)
    else:
        text = _("We emailed {email}. The address changes when the owner confirms it.", email=email)
    return redirect_to_account(text, account_id)


@show_form_again(managed_account_page)
@admins_only
@fresh_factor_required
def unlink_managed_identity(account_id: AccountKey, identity_id: int) -> Response:
    email = service(CredentialAdministration).unlink(caller().account, account_id, identity_id)
    return redirect_to_account(_("Unlinked {email}.", email=email), account_id)
