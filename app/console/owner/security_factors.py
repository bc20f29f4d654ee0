"""Two-factor authentication: an overview, authenticators, apps and recovery codes."""

from collections.abc import Sequence
from typing import TypedDict

from flask import Response, request

from ...auth.caller import caller, find_caller
from ...auth.decorators import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa import schemas as mfa_schemas
from ...auth.mfa import totp
from ...auth.mfa.apps import AppEnrollment, OfferedApp
from ...auth.mfa.authenticators import Authenticators
from ...auth.mfa.errors import AuthenticatorNotFound
from ...auth.mfa.models import NAME_LENGTH, PASSKEY_KIND, TOTP_KIND
from ...auth.mfa.policy import find_enrollee
from ...auth.mfa.recovery_codes import RecoveryCodes
from ...auth.mfa.routes import factors_required
from ...auth.sessions.devices import label_of
from ...auth.settings import AuthSettings
from ...auth.sign_in.options import sign_in_options
from ...auth.step_up.service import Freshness
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import JsonObject
from ...core.web.fields import RequestSchema, Text
from ...core.web.request_data import takes
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import redirect_to
from ..pages import render_page
from ..recovery_codes import show_recovery_codes
from ..texts import _, device_name
from .step_up import require_recent_sign_in


@active_account_required
@factors_required
def factors_page() -> Response:
    found = get_from_api(mfa_api.list_authenticators)
    auth = current_frontdesk.settings.of(AuthSettings)
    requirement = service(Authenticators).requirement
    has_factor = any(each["kind"] in requirement.kinds for each in found)
    devices = get_from_api(mfa_api.list_trusted_devices) if has_factor else []
    return render_page(
        "owner/security/factors.html",
        at="security_page",
        apps=[each for each in found if each["kind"] == TOTP_KIND],
        passkeys=[each for each in found if each["kind"] == PASSKEY_KIND],
        may_add_app=TOTP_KIND in auth.MFA_METHODS,
        are_passkeys_allowed=PASSKEY_KIND in auth.MFA_METHODS,
        is_required=requirement.applies_to(caller().account),
        codes_left=service(RecoveryCodes).count_left(caller().account.id) if has_factor else None,
        trust_days=auth.MFA_TRUST_DAYS,
        devices=[{**each, "label": label_of(each["user_agent"])} for each in devices],
    )


@active_account_required
@require_recent_sign_in
def authenticator_page(authenticator_id: int) -> Response:
    found = get_from_api(mfa_api.list_authenticators)
    authenticator = next((each for each in found if each["id"] == authenticator_id), None)
    if authenticator is None:
        raise AuthenticatorNotFound
    kinds = service(Authenticators).requirement.kinds
    others = [each for each in found if each["id"] != authenticator_id and each["kind"] in kinds]
    return render_page(
        "owner/security/authenticator.html",
        at="security_page",
        authenticator=authenticator,
        is_last=authenticator["kind"] in kinds and not others,
        back=_page_of(authenticator),
    )


@console_form(mfa_api.rename_authenticator, page=authenticator_page)
def rename_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    renamed = call_api()
    return redirect_to(_page_of(renamed), _("Renamed to {name}.", name=renamed["name"]))


@console_form(mfa_api.remove_authenticator, page=authenticator_page)
def remove_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    removed = call_api()
    return redirect_to(_page_of(removed), _("Removed {name}.", name=removed["name"]))


@console_form(mfa_api.forget_trusted_device)
def forget_own_device(call_api: ApiCall, device_id: int) -> Response:
    forgotten = call_api()
    device = device_name(label_of(forgotten["user_agent"])) or _("The device")
    return redirect_to(".factors_page", _("{device} is no longer trusted.", device=device))


def _page_of(authenticator: JsonObject) -> str:
    return ".passkeys_page" if authenticator["kind"] == PASSKEY_KIND else ".factors_page"


@active_account_required
@factors_required
@require_recent_sign_in
def new_app_page() -> Response:
    """Show a new secret, or the secret of a rejected form again."""
    app = service(AppEnrollment).offer(caller().account, request.form.get("key", ""))
    qr = totp.qr_code(app["uri"])
    return render_page("owner/security/app.html", at="security_page", app=app, qr=qr)


class AppSetupForm(RequestSchema):
    class Input(TypedDict):
        key: str
        otp: str
        name: str | None

    key = Text(min=1, max=512, required=True)
    otp = mfa_schemas.one_time_code(required=True)
    name = Text(max=NAME_LENGTH, strip=True, load_default=None, allow_none=True)


@console_form(page=new_app_page)
@active_account_required
@factors_required
@takes(form=AppSetupForm)
def set_up_own_app(form: AppSetupForm.Input) -> Response:
    enrolled = service(AppEnrollment).set_up(
        find_enrollee(None),
        # The default of the API is in English.
        OfferedApp(form["key"], form["otp"], form["name"] or _("Authenticator app").unescape()),
        sign_in_options(caller=find_caller()),
    )
    if enrolled is None:
        raise Invalid.about("otp", _("The key has expired. Scan the new QR code."))
    if enrolled.recovery_codes:
        return render_recovery_codes(enrolled.recovery_codes, _("Authenticator app set up."))
    text = _("Authenticator app set up. All other sessions have ended.")
    return redirect_to(".factors_page", text)


@active_account_required
@factors_required
@require_recent_sign_in
def recovery_codes_page() -> Response:
    return render_page(
        "owner/security/recovery_codes.html",
        at="security_page",
        left=get_from_api(mfa_api.count_recovery_codes)["left"],
        has_factor=service(Freshness).has_factor(caller().account),
    )


@console_form(mfa_api.make_recovery_codes, page=recovery_codes_page)
def make_own_recovery_codes(call_api: ApiCall) -> Response:
    has_codes = get_from_api(mfa_api.count_recovery_codes)["left"] > 0
    return render_recovery_codes(call_api()["recovery_codes"], replaces_codes=has_codes)


def render_recovery_codes(
    codes: Sequence[str], message: object = "", *, replaces_codes: bool = False
) -> Response:
    return show_recovery_codes(
        "owner/security/codes_shown.html",
        codes,
        caller().account.email,
        at="security_page",
        message=message,
        replaces_codes=replaces_codes,
    )
