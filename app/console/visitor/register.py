"""Registration and email verification."""

from flask import Response, request

from ...accounts.schemas import sign_up_fields
from ...accounts.service import Accounts
from ...auth.errors import InvalidProof
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...core.web.operation import anyone
from ...registration import routes as registration_api
from ...registration.verification import Verification
from ...workspaces.invitations.received import ReceivedInvitations
from ..api_calls import ApiCall, console_form, report
from ..form_fields import form_fields
from ..links import link_to, next_path, redirect, set_notice
from ..navigation import home_path
from ..pages import expired_link_page, is_expired, is_signed_in, render_page
from ..providers import provider_links
from ..texts import _
from .cookie_sign_in import prepare_sign_in, redirect_signed_in
from .registered_browser import (
    forget_registration,
    remember_registration,
    sign_in_after_verification,
)


@anyone
def register_page() -> Response:
    if is_signed_in():
        return redirect(next_path(home_path()))
    # The token of an emailed invitation.
    token, invited, next_page = request.values.get("invitation", ""), "", next_path("")
    if token:
        try:
            found = service(ReceivedInvitations).show(token)
        except InvalidProof as problem:
            report(problem)
            return render_page("workspaces/invitation_over.html", status=problem.status)
        invited = found.invitation.email
        next_page = link_to(".workspace_page", workspace_slug=found.workspace.slug)
    auth = current_frontdesk.settings.of(AuthSettings)
    return render_page(
        "visitor/register.html",
        mode=auth.REGISTRATION,
        domains=auth.REGISTRATION_DOMAINS,
        password_length=auth.PASSWORD_MIN_LENGTH,
        own=form_fields(sign_up_fields()),
        providers=provider_links() if auth.ALLOW_IDP_OAUTH_SIGNUP else (),
        next=next_page,
        invitation=token,
        invited=invited,
    )


@console_form(registration_api.register, page=register_page)
def register_account(call_api: ApiCall) -> Response:
    prepare_sign_in()
    proofs: list[str] = []
    result = call_api(keep_proof=proofs.append)
    if proofs:
        return remember_registration(_check_mail(), proofs[0])
    return redirect_signed_in(result, _("Welcome. Your account was created."))


@anyone
def verify_page() -> Response:
    """Show the page of the emailed link, or the form for the code and the email address."""
    token, form = request.values.get("token", ""), request.form
    if "email" in form:
        return _check_mail()
    if is_expired(service(Verification).find):
        return expired_link_page(
            _(
                "The link has expired or was replaced by a newer one. Sign in with your email"
                " address and password: if your email address is not confirmed yet, you can"
                " request another email there."
            )
        )
    return render_page("visitor/verify.html", token=token, next=next_path(""))


@console_form(registration_api.verify_email, page=verify_page)
def verify_address(call_api: ApiCall) -> Response:
    call_api()
    text = _("Email address confirmed.")
    if is_signed_in():
        return redirect(next_path(home_path()), text)
    email, token = request.form.get("email"), request.form.get("token", "")
    account = service(Accounts).find(email) if email else service(Verification).find(token)
    if account is not None and (signed_in := sign_in_after_verification(account)):
        return forget_registration(redirect_signed_in(signed_in, text))
    response = redirect(link_to(".sign_in_page", next=next_path("") or None))
    return set_notice(response, text, email=account.email if account is not None else "")


@console_form(registration_api.mail_verification, page=verify_page)
def mail_verification_again(call_api: ApiCall) -> Response:
    call_api()
    return _check_mail(_("If this email address is not confirmed yet, we sent another email."))


def _check_mail(message: object = "") -> Response:
    carried = {"email": request.form.get("email", ""), "next": next_path("")}
    return render_page("visitor/check_mail.html", carried=carried, message=message)
