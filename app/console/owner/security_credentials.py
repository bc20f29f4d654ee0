"""The forms for the owner's email address and password."""

from flask import Response, request

from ...accounts.service import Accounts
from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.decorators import active_account_required, passwords_required
from ...auth.email_change.service import EmailChanges
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...registration import routes as registration_api
from ..api_calls import ApiCall, console_form
from ..links import link_to, redirect, redirect_to
from ..pages import render_page
from ..texts import _
from ..tokens import path_to_tokens
from .step_up import is_fresh, require_recent_sign_in, require_second_factor


@active_account_required
@require_second_factor
def email_page() -> Response:
    account = caller().account
    return render_page(
        "owner/security/email.html",
        at="security_page",
        new_email=service(EmailChanges).waiting(account.id),
        is_verified=service(Accounts).is_email_verified(account),
        asks_password=_has_password() and not is_fresh(),
    )


@console_form(account_api.request_email_change, page=email_page)
def change_email(call_api: ApiCall) -> Response:
    call_api()
    email = request.form["email"].strip()
    return redirect_to(
        ".email_page",
        _("We emailed {email}. Open the link in the email to confirm the address.", email=email),
    )


@console_form(registration_api.mail_verification, page=email_page)
def mail_own_verification(call_api: ApiCall) -> Response:
    email = caller().account.email
    call_api(json={"email": email})
    return redirect_to(".email_page", _("Email sent to {email}.", email=email))


@passwords_required
@active_account_required
def password_page() -> Response:
    # Without a password, the form does not authenticate the owner.
    require = require_second_factor if _has_password() else require_recent_sign_in
    return require(_password_form)()


@console_form(account_api.change_password, page=password_page)
def change_own_password(call_api: ApiCall) -> Response:
    call_api()
    path = path_to_tokens(caller().account.id) or link_to(".security_page")
    return redirect(path, _("Password changed. All other sessions have ended."))


def _password_form() -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    return render_page(
        "owner/security/password.html",
        at="security_page",
        has_password=_has_password(),
        password_length=auth.PASSWORD_MIN_LENGTH,
    )


def _has_password() -> bool:
    return service(Accounts).has_usable_password(caller().account)
