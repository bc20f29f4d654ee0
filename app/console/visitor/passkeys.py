"""Passkeys on the visitor's pages. What a browser is asked for stands in the page, and a script
puts what the browser makes of it into the form."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response, request

from ..actions import Perform, performs
from .arriving import arrive, arrived
from .sign_in import sign_in_page


@performs("auth.passkeys.cookie_routes.open_cookie_session_by_passkey", refused=sign_in_page)
def sign_in_by_passkey(perform: Perform) -> Response:
    arrive()
    return arrived(perform(json={"credential": sent_credential()}))


def sent_credential() -> Any:
    """As the script has written it; what it cannot have written is no credential."""
    try:
        return orjson.loads(request.form.get("credential", ""))
    except orjson.JSONDecodeError:
        return {}
