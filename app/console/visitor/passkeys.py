"""Passkeys on pages: what a browser is asked for, and the credential that a script sends."""

from typing import Any

import orjson
from flask import request

from ...auth.passkeys import routes as passkeys_api
from ...core.errors import Problem
from ...core.web.operation import View
from ..api_calls import ApiCall


def options_to_sign_in(mfa_token: str | None = None) -> str:
    """With a token, as the second factor of the sign-in that the token continues."""
    return _asked(passkeys_api.begin_passkey_login, mfa_token)


def options_to_enrol(mfa_token: str | None = None) -> str:
    """Without a token, whoever is signed in adds one."""
    return _asked(passkeys_api.begin_passkey, mfa_token)


def options_to_confirm() -> str:
    return _asked(passkeys_api.begin_reauthentication, None)


def _asked(view: View, mfa_token: str | None) -> str:
    """As JSON. Empty where nothing can be asked for, such as with a token that has ended: the page
    then offers what else there is, and the next form tells why."""
    try:
        options = ApiCall(view, {})(json={} if mfa_token is None else {"mfa_token": mfa_token})
    except Problem:
        return ""
    return orjson.dumps(options).decode()


def sent_credential() -> Any:
    """As the script has written it; what it cannot have written is no credential."""
    try:
        return orjson.loads(request.form.get("credential", ""))
    except orjson.JSONDecodeError:
        return {}
