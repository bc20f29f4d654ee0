"""Passkeys on the visitor's pages. What a browser is asked for stands in the page, and a script
puts what the browser makes of it into the form."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response, request

from ...auth.passkeys import routes as passkeys_api
from ..api_calls import ApiCall, calls_api
from .arriving import arrive, arrived
from .sign_in import sign_in_page


@calls_api(passkeys_api.open_cookie_session_by_passkey, refused=sign_in_page)
def sign_in_by_passkey(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api(json={"credential": sent_credential()}))


def sent_credential() -> Any:
    """As the script has written it; what it cannot have written is no credential."""
    try:
        return orjson.loads(request.form.get("credential", ""))
    except orjson.JSONDecodeError:
        return {}
