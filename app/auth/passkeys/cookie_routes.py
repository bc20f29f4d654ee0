"""A passkey's sign-in by a cookie."""

from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..errors import AccountDeleting, AwaitsVerification, InactiveAccount, PasskeyRefused
from ..sessions.by_cookie import (
    SESSION,
    cookie_session_read,
    signs_in_by_cookie,
)
from ..sessions.cookie_door import CookieDoor
from ..sign_in.admitting import admits
from ..sign_in.gate import payload_of
from . import examples
from .blueprint import blueprint
from .bodies import ShownPasskey
from .sign_in import PasskeyLogin


@blueprint.post("/session/passkey", only_with=CookieDoor)
@anyone
@signs_in_by_cookie
@admits
@example(json=examples.SHOWN_PASSKEY, answer=SESSION)
@raises(PasskeyRefused, InactiveAccount, AwaitsVerification, AccountDeleting, KeystoreUnavailable)
@takes(json=ShownPasskey)
@answers(200, cookie_session_read)
def open_cookie_session_by_passkey(json: dict[str, Any]) -> dict[str, Any]:
    """Sign in by a cookie, with a passkey"""
    return payload_of(service(PasskeyLogin).with_passkey(json["credential"]))
