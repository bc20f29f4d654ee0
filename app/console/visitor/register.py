"""Making an account of one's own, and proving its address."""

from flask import Response, request

from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.web.operation import anyone, hidden
from ...registration import routes as registration_api
from ..api_calls import ApiCall, calls_api
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import asked_next, go, go_to, to
from .arriving import arrive, arrived
from .provider import provider_name


@anyone
@hidden
def register_page() -> Response:
    if somebody_is_in():
        return go_to(asked_next(to(".dashboard")))
    auth = current_frontdesk.settings.of(AuthSettings)
    return page(
        "visitor/register.html",
        mode=auth.REGISTRATION,
        domains=auth.REGISTRATION_DOMAINS,
        password_length=auth.PASSWORD_MIN_LENGTH,
        provider=provider_name() if auth.ALLOW_IDP_OAUTH_SIGNUP else "",
        next=asked_next(""),
        # The secret of an invitation's mail.
        invitation=request.values.get("invitation", ""),
    )


@calls_api(registration_api.register, refused=register_page)
def register_account(call_api: ApiCall) -> Response:
    arrive()
    answer = call_api()
    if "account" in answer:
        return arrived(answer, _("Welcome. Your account was created."))
    return _check_mail()


@anyone
@hidden
def verify_page() -> Response:
    """The link of the mail; or where the code of it is typed, which needs the address too."""
    token, form = request.values.get("token", ""), request.form
    if "email" in form:
        return _check_mail()
    return page("visitor/verify.html", token=token, next=asked_next(""))


@calls_api(registration_api.verify_email, refused=verify_page)
def verify_address(call_api: ApiCall) -> Response:
    call_api()
    said = _("Email address confirmed.")
    if somebody_is_in():
        return go_to(asked_next(to(".dashboard")), said)
    return go(".sign_in_page", said, next=asked_next("") or None)


@calls_api(registration_api.mail_verification, refused=verify_page)
def mail_verification_again(call_api: ApiCall) -> Response:
    call_api()
    return _check_mail(_("If this email address is not confirmed yet, we sent another email."))


def _check_mail(said: object = "") -> Response:
    carried = {"email": request.form.get("email", ""), "next": asked_next("")}
    return page("visitor/check_mail.html", carried=carried, said=said)
