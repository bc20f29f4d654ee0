"""What a browser is asked for where a page offers passkeys."""

from __future__ import annotations

import orjson

from ...auth.passkeys import routes as passkeys_api
from ...core.errors import Problem
from ...core.web.operation import View
from ..api_calls import ApiCall


def to_sign_in() -> str:
    return _asked(passkeys_api.begin_passkey_login, None)


def as_factor(mfa_token: str) -> str:
    return _asked(passkeys_api.begin_passkey_login, mfa_token)


def to_enrol(mfa_token: str | None = None) -> str:
    """Without a token, whoever is signed in adds one."""
    return _asked(passkeys_api.begin_passkey, mfa_token)


def to_confirm() -> str:
    return _asked(passkeys_api.begin_reauthentication, None)


def _asked(view: View, mfa_token: str | None) -> str:
    """As JSON. Empty where nothing can be asked for, such as with a token that has ended: the page
    then offers what else there is, and the next form tells why."""
    try:
        options = ApiCall(view, {})(json={} if mfa_token is None else {"mfa_token": mfa_token})
    except Problem:
        return ""
    return orjson.dumps(options).decode()
