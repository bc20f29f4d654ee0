"""Registration and email verification."""

from flask import Response, request

from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.web.operation import anyone, hidden
from ...registration import routes as registration_api
from ..api_calls import ApiCall, calls_api
from ..links import link_to, next_path, redirect, redirect_to
from ..pages import is_signed_in, render_page
from ..texts import _
from .cookie_sign_in import prepare_sign_in, redirect_signed_in
from .provider import provider_name


@anyone
@hidden
def register_page() -> Response:
    if is_signed_in():
        return redirect(next_path(link_to(".dashboard")))
    auth = current_frontdesk.settings.of(AuthSettings)
    return render_page(
        "visitor/register.html",
        mode=auth.REGISTRATION,
        domains=auth.REGISTRATION_DOMAINS,
        password_length=auth.PASSWORD_MIN_LENGTH,
        provider=provider_name() if auth.ALLOW_IDP_OAUTH_SIGNUP else "",
        next=next_path(""),
        # The token of an emailed invitation.
        invitation=request.values.get("invitation", ""),
    )


@calls_api(registration_api.register, form_page=register_page)
def register_account(call_api: ApiCall) -> Response:
    prepare_sign_in()
    result = call_api()
    if "account" in result:
        return redirect_signed_in(result, _("Welcome. Your account was created."))
    return _check_mail()


@anyone
@hidden
def verify_page() -> Response:
    """Show the page of the emailed link, or the form for the code and the email address."""
    token, form = request.values.get("token", ""), request.form
    if "email" in form:
        return _check_mail()
    return render_page("visitor/verify.html", token=token, next=next_path(""))


@calls_api(registration_api.verify_email, form_page=verify_page)
def verify_address(call_api: ApiCall) -> Response:
    call_api()
    text = _("Email address confirmed.")
    if is_signed_in():
        return redirect(next_path(link_to(".dashboard")), text)
    return redirect_to(".sign_in_page", text, next=next_path("") or None)


@calls_api(registration_api.mail_verification, form_page=verify_page)
def mail_verification_again(call_api: ApiCall) -> Response:
    call_api()
    return _check_mail(_("If this email address is not confirmed yet, we sent another email."))


def _check_mail(message: object = "") -> Response:
    carried = {"email": request.form.get("email", ""), "next": next_path("")}
    return render_page("visitor/check_mail.html", carried=carried, message=message)
