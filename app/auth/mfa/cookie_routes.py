"""The second step of a sign-in by a cookie."""

from __future__ import annotations

from functools import cache
from typing import Any

from marshmallow import Schema, fields

from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    InvalidProof,
    TooManyAttempts,
)
from ..sessions.by_cookie import (
    SESSION,
    cookie_session_read,
    signs_in_by_cookie,
)
from ..sessions.cookie_door import CookieDoor
from ..sign_in.gate import payload_of
from . import examples
from .blueprint import blueprint
from .errors import SecretUnreadable, WrongFactor
from .guards import factors_required
from .schemas import TRUSTED_DEVICE, SecondStepForm
from .second_step import finish


def cookie_second_step_read() -> type[Schema]:
    return _with_device(cookie_session_read())


@cache
def _with_device(session: type[Schema]) -> type[Schema]:
    device = fields.String(metadata=TRUSTED_DEVICE)
    return type("CookieSecondStepRead", (session,), {"trusted_device": device})


@blueprint.post("/session/mfa", only_with=CookieDoor)
@anyone
@factors_required
@signs_in_by_cookie
@example(json=examples.SECOND_STEP, answer=SESSION)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=SecondStepForm)
@answers(200, cookie_second_step_read)
def finish_cookie_session(json: dict[str, Any]) -> dict[str, Any]:
    """Finish a sign-in by a cookie with a second factor

    `mfa_token` came with the 403 `mfa_required` of `POST /session`.
    """
    return payload_of(finish(json))
