"""Two-factor authentication: an overview, authenticators, apps and recovery codes."""

from collections.abc import Sequence

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa import totp
from ...auth.mfa.authenticators import Authenticators
from ...auth.mfa.errors import AuthenticatorNotFound
from ...auth.mfa.models import PASSKEY_KIND, TOTP_KIND
from ...auth.mfa.recovery_codes import RecoveryCodes
from ...auth.mfa.routes import factors_required
from ...auth.sessions.devices import label_of
from ...auth.settings import AuthSettings
from ...auth.step_up.service import Freshness
from ...core.context import current_frontdesk, service
from ...core.types import JsonObject
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..links import redirect_to
from ..pages import render_page
from ..texts import _
from .step_up import require_recent_sign_in


@active_account_required
@factors_required
@hidden
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
@hidden
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


@calls_api(mfa_api.rename_authenticator, form_page=authenticator_page)
def rename_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    renamed = call_api()
    return redirect_to(_page_of(renamed), _("Renamed to {name}.", name=renamed["name"]))


@calls_api(mfa_api.remove_authenticator, form_page=authenticator_page)
def remove_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    removed = call_api()
    return redirect_to(_page_of(removed), _("Removed {name}.", name=removed["name"]))


@calls_api(mfa_api.forget_trusted_device)
def forget_own_device(call_api: ApiCall, device_id: int) -> Response:
    forgotten = call_api()
    device = label_of(forgotten["user_agent"]) or _("The device")
    return redirect_to(".factors_page", _("{device} is no longer trusted.", device=device))


def _page_of(authenticator: JsonObject) -> str:
    return ".passkeys_page" if authenticator["kind"] == PASSKEY_KIND else ".factors_page"


@active_account_required
@factors_required
@hidden
@require_recent_sign_in
def new_app_page() -> Response:
    return render_page("owner/security/app_new.html", at="security_page")


@calls_api(mfa_api.begin_app, form_page=new_app_page)
def begin_own_app(call_api: ApiCall) -> Response:
    """Show the secret without a redirect, because the API returns it only once."""
    return _render_confirmation(call_api())


@active_account_required
@factors_required
@hidden
def own_app_page(authenticator_id: int) -> Response:
    """Show a rejected form again; without a form there is no secret, so redirect to the start."""
    secret, uri = (request.form.get(name, "") for name in ("secret", "uri"))
    if not uri.startswith("otpauth://"):
        return redirect_to(".new_app_page")
    shown = {"id": authenticator_id, "secret": secret, "uri": uri}
    return _render_confirmation({**shown, "qr": totp.qr_code(uri)})


@calls_api(mfa_api.confirm_app, form_page=own_app_page)
def confirm_own_app(call_api: ApiCall, authenticator_id: int) -> Response:
    codes = call_api()["recovery_codes"]
    if codes:
        return render_recovery_codes(codes, _("Authenticator app set up."))
    return redirect_to(
        ".factors_page", _("Authenticator app set up. All other sessions have ended.")
    )


def _render_confirmation(app: JsonObject) -> Response:
    return render_page("owner/security/app_confirm.html", at="security_page", app=app)


@active_account_required
@factors_required
@hidden
@require_recent_sign_in
def recovery_codes_page() -> Response:
    return render_page(
        "owner/security/recovery_codes.html",
        at="security_page",
        left=get_from_api(mfa_api.count_recovery_codes)["left"],
        has_factor=service(Freshness).has_factor(caller().account),
    )


@calls_api(mfa_api.make_recovery_codes, form_page=recovery_codes_page)
def make_own_recovery_codes(call_api: ApiCall) -> Response:
    return render_recovery_codes(call_api()["recovery_codes"])


def render_recovery_codes(codes: Sequence[str], message: object = "") -> Response:
    """Show the codes without a redirect, because the API returns them only once."""
    return render_page(
        "owner/security/codes_shown.html", at="security_page", codes=codes, message=message
    )
