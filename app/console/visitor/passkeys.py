"""Passkeys on pages: the options for the browser, and the credential that a script sends."""

import orjson
from flask import request

from ...auth.passkeys import routes as passkeys_api
from ...core.errors import Problem
from ...core.web.operation import View
from ..api_calls import get_from_api


def options_to_sign_in(mfa_token: str | None = None) -> str:
    """Return the options to sign in; with a token, as the second factor of its sign-in."""
    return _options(passkeys_api.begin_passkey_login, mfa_token)


def options_to_enroll(mfa_token: str | None = None) -> str:
    """Return the options to add a passkey; with a token, during its sign-in."""
    return _options(passkeys_api.begin_passkey, mfa_token)


def options_to_confirm() -> str:
    return _options(passkeys_api.begin_reauthentication, None)


def _options(view: View, mfa_token: str | None) -> str:
    """Return the options as JSON, or an empty string if the API rejects the request.

    Without options, such as with an expired token, the page offers the other methods.
    """
    try:
        options = get_from_api(view, json={} if mfa_token is None else {"mfa_token": mfa_token})
    except Problem:
        return ""
    return orjson.dumps(options).decode()


def sent_credential() -> object:
    """Return the credential that the script sent; invalid JSON is an empty credential."""
    try:
        return orjson.loads(request.form.get("credential", ""))
    except orjson.JSONDecodeError:
        return {}
