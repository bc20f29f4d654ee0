"""An account's passkeys. A script asks the browser for a new one, and a form brings it."""

from flask import Response, request

from ...auth.decorators import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa.models import PASSKEY_KIND
from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions.devices import label_of
from ...core.context import service
from ...core.errors import NotFound
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..desk import Desk
from ..pages import page
from ..texts import _
from ..visitor import passkeys
from ..visitor.passkeys import sent_credential
from ..ways import go
from .fresh_first import fresh_first
from .security_factors import codes_shown


@active_account_required
@hidden
def passkeys_page() -> Response:
    return page(
        "owner/security/passkeys.html",
        at="security_page",
        passkeys=[
            each
            for each in get_from_api(mfa_api.list_authenticators)
            if each["kind"] == PASSKEY_KIND
        ],
    )


@active_account_required
@hidden
@fresh_first
def new_passkey_page() -> Response:
    if not service(Desk).on.passkeys:
        raise NotFound
    return page(
        "owner/security/passkey_new.html",
        at="security_page",
        name=label_of(request.user_agent.string) or "",
        passkey_options=passkeys.options_to_enrol(),
    )


@calls_api(passkeys_api.add_passkey, refused=new_passkey_page)
def add_own_passkey(call_api: ApiCall) -> Response:
    added = call_api(json={"name": request.form.get("name", ""), "credential": sent_credential()})
    if codes := added.get("recovery_codes"):
        return codes_shown(codes, _("Passkey added."))
    return go(".passkeys_page", _("Passkey added. You can now sign in with it."))
