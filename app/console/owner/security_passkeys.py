"""An account's passkeys. A script creates a new passkey, and a form sends it."""

from flask import Response, request

from ...auth.decorators import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa.models import PASSKEY_KIND
from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions.devices import label_of
from ...core.context import service
from ...core.errors import NotFound
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import redirect_to
from ..pages import render_page
from ..resources import ConsoleResources
from ..texts import _, device_name
from ..visitor import passkeys
from ..visitor.passkeys import sent_credential
from .security_factors import render_recovery_codes
from .step_up import require_recent_sign_in


@active_account_required
def passkeys_page() -> Response:
    return render_page(
        "owner/security/passkeys.html",
        at="security_page",
        passkeys=[
            each
            for each in get_from_api(mfa_api.list_authenticators)
            if each["kind"] == PASSKEY_KIND
        ],
    )


@active_account_required
@require_recent_sign_in
def new_passkey_page() -> Response:
    if not service(ConsoleResources).features.passkeys:
        raise NotFound
    return render_page(
        "owner/security/passkey_new.html",
        at="security_page",
        name=device_name(label_of(request.user_agent.string)),
        passkey_options=passkeys.options_to_enroll(),
    )


@console_form(passkeys_api.add_passkey, page=new_passkey_page)
def add_own_passkey(call_api: ApiCall) -> Response:
    added = call_api(json={"name": request.form.get("name", ""), "credential": sent_credential()})
    if codes := added.get("recovery_codes"):
        return render_recovery_codes(codes, _("Passkey added."))
    return redirect_to(".passkeys_page", _("Passkey added. You can now sign in with it."))
