"""Setting an authenticator app up: its secret is shown, and counts once a code of it was right."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from ...auth.guards import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa import totp
from ...auth.mfa.routes import factors_required
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import go
from .fresh_first import fresh_first
from .security_recovery import codes_shown


@active_account_required
@factors_required
@hidden
@fresh_first
def new_app_page() -> Response:
    return page("owner/security/app_new.html", at="security_page")


@calls_api(mfa_api.begin_app, refused=new_app_page)
def begin_own_app(call_api: ApiCall) -> Response:
    """Its secret comes once, so that no redirect may come in between."""
    return _to_be_confirmed(call_api())


@active_account_required
@factors_required
@hidden
def own_app_page(authenticator_id: int) -> Response:
    """Once more, as the form that was refused had it; by its address alone there is no secret."""
    secret, uri = (request.form.get(name, "") for name in ("secret", "uri"))
    if not uri.startswith("otpauth://"):
        return go(".new_app_page")
    shown = {"id": authenticator_id, "secret": secret, "uri": uri}
    return _to_be_confirmed({**shown, "qr": totp.qr_code(uri)})


@calls_api(mfa_api.confirm_app, refused=own_app_page)
def confirm_own_app(call_api: ApiCall, authenticator_id: int) -> Response:
    codes = call_api()["recovery_codes"]
    if codes:
        return codes_shown(codes, _("The app is set up."))
    return go(".factors_page", _("The app is set up. You are signed out everywhere but here."))


def _to_be_confirmed(made: dict[str, Any]) -> Response:
    return page("owner/security/app_confirm.html", at="security_page", made=made)
