"""An account's second factors at a glance, and each authenticator by itself."""

from __future__ import annotations

from typing import Any

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa.authenticators import Authenticators
from ...auth.mfa.errors import AuthenticatorNotFound
from ...auth.mfa.models import PASSKEY_KIND, TOTP_KIND
from ...auth.mfa.recovery_codes import RecoveryCodes
from ...auth.mfa.routes import factors_required
from ...auth.sessions.devices import label_of
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, service
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _
from ..ways import go
from .fresh_first import fresh_first


@active_account_required
@factors_required
@hidden
def factors_page() -> Response:
    found = get_from_api(mfa_api.list_authenticators)
    auth = current_frontdesk.settings.of(AuthSettings)
    requirement = service(Authenticators).requirement
    has_factor = any(each["kind"] in requirement.kinds for each in found)
    devices = get_from_api(mfa_api.list_trusted_devices) if has_factor else []
    return page(
        "owner/security/factors.html",
        at="security_page",
        apps=[each for each in found if each["kind"] == TOTP_KIND],
        passkeys=[each for each in found if each["kind"] == PASSKEY_KIND],
        may_add_app=TOTP_KIND in auth.MFA_METHODS,
        passkeys_count=PASSKEY_KIND in auth.MFA_METHODS,
        is_needed=requirement.holds_for(caller().account),
        codes_left=service(RecoveryCodes).left(caller().account.id) if has_factor else None,
        trust_days=auth.MFA_TRUST_DAYS,
        devices=[{**each, "label": label_of(each["user_agent"])} for each in devices],
    )


@active_account_required
@hidden
@fresh_first
def authenticator_page(authenticator_id: int) -> Response:
    found = get_from_api(mfa_api.list_authenticators)
    shown = next((each for each in found if each["id"] == authenticator_id), None)
    if shown is None:
        raise AuthenticatorNotFound
    kinds = service(Authenticators).requirement.kinds
    others = [each for each in found if each["id"] != authenticator_id and each["kind"] in kinds]
    return page(
        "owner/security/authenticator.html",
        at="security_page",
        authenticator=shown,
        is_last=shown["kind"] in kinds and not others,
        back=_page_of(shown),
    )


@calls_api(mfa_api.rename_authenticator, refused=authenticator_page)
def rename_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    renamed = call_api()
    return go(_page_of(renamed), _("It is called {name} now.", name=renamed["name"]))


@calls_api(mfa_api.remove_authenticator, refused=authenticator_page)
def remove_own_authenticator(call_api: ApiCall, authenticator_id: int) -> Response:
    removed = call_api()
    return go(_page_of(removed), _("{name} is removed.", name=removed["name"]))


@calls_api(mfa_api.forget_trusted_device)
def forget_own_device(call_api: ApiCall, device_id: int) -> Response:
    forgotten = call_api()
    device = label_of(forgotten["user_agent"]) or _("That device")
    return go(".factors_page", _("{device} is asked for a second factor again.", device=device))


def _page_of(authenticator: dict[str, Any]) -> str:
    return ".passkeys_page" if authenticator["kind"] == PASSKEY_KIND else ".factors_page"
