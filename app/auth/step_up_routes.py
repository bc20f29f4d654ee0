from __future__ import annotations

from collections.abc import Iterable

from ..accounts.errors import TooManyHashes
from ..core.context import service
from ..core.errors import Problem
from ..core.types import JsonObject, Loaded
from ..core.web.operation import example, raises, raises_found
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import examples
from .blueprint import blueprint
from .caller import caller
from .decorators import active_account_required
from .errors import (
    IncorrectCredentials,
    ReauthenticationRequired,
    TooManyAttempts,
)
from .schemas import login_read
from .sign_in.options import sign_in_options
from .step_up.schemas import WAYS, Reauthenticate
from .step_up.service import Reauthentication


@raises_found
def shown_otherwise() -> Iterable[type[Problem]]:
    """Than by the password."""
    return service(Reauthentication).step_up.refusals


@blueprint.post("/reauthenticate")
@active_account_required
@example(json=examples.REAUTHENTICATION, answer=examples.SIGNED_IN)
@shown_otherwise
@raises(IncorrectCredentials, ReauthenticationRequired, TooManyAttempts, TooManyHashes)
@takes(json=Reauthenticate)
@answers(200, login_read)
def reauthenticate(json: Loaded) -> JsonObject:
    """Re-authenticate

    Confirms the identity of the caller with a password, an MFA method, a passkey or a one-time
    code. Returns a new access token for routes that require a recent sign-in.
    """
    way = next(each for each in WAYS if each in json)
    given = (json["login_id"], json["code"]) if way == "code" else json[way]
    options = sign_in_options(caller=caller())
    return service(Reauthentication).show(caller(), way, given, options).payload
