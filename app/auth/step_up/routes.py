"""The route of re-authentication, and its schema."""

from collections.abc import Iterable
from typing import NotRequired, TypedDict

from marshmallow import ValidationError, fields, validates_schema

from ...accounts.errors import TooManyHashes
from ...core.coded_messages import REQUIRED, exactly_one
from ...core.context import service
from ...core.errors import Problem
from ...core.types import JsonObject
from ...core.web.fields import RequestSchema, Text
from ...core.web.operation import example, raises, raises_found
from ...core.web.request_data import takes
from ...core.web.responses import answers
from .. import examples
from ..blueprint import blueprint
from ..caller import caller
from ..decorators import active_account_required
from ..errors import IncorrectCredentials, ReauthenticationRequired, TooManyAttempts
from ..schemas import PasswordField, login_read
from ..sign_in.options import sign_in_options
from .service import Reauthentication

# The body has exactly one of these methods.
METHODS = ("password", "otp", "recovery_code", "credential", "code")


class Reauthenticate(RequestSchema):
    class Meta(RequestSchema.Meta):
        json_schema = {"oneOf": [{"required": [method]} for method in METHODS]}

    class Input(TypedDict):
        password: NotRequired[str]
        otp: NotRequired[str]
        recovery_code: NotRequired[str]
        credential: NotRequired[JsonObject]
        code: NotRequired[str]
        login_id: str | None

    password = PasswordField(description="Password of the account.")
    otp = Text(min=1, blank=True, max=64, description="Code of an authenticator app.")
    recovery_code = Text(min=1, blank=True, max=64, description="An unused recovery code.")
    credential = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "Passkey assertion for the options of `POST"
            " /reauthenticate/passkey/options`."
        },
    )
    code = Text(
        min=1, blank=True, max=64, description="One-time code from the email of `POST /login/code`."
    )
    login_id = Text(
        min=1,
        blank=True,
        max=64,
        load_default=None,
        description="`login_id` from the response of `POST /login/code`; required with `code`.",
    )

    @validates_schema
    def require_one_method(self, data: Input, **kwargs: object) -> None:
        given = [method for method in METHODS if method in data]
        message = f"Exactly one of {', '.join(METHODS)} must be given."
        if fault := exactly_one(message, given):
            raise ValidationError(fault)
        if "code" in data and data.get("login_id") is None:
            raise ValidationError(REQUIRED, "login_id")


@raises_found
def raises_step_up_problems() -> Iterable[type[Problem]]:
    """Document the errors of the methods besides the password."""
    return service(Reauthentication).step_up.refusals


@blueprint.post("/reauthenticate")
@active_account_required
@example(json=examples.REAUTHENTICATION, answer=examples.SIGNED_IN)
@raises_step_up_problems
@raises(IncorrectCredentials, ReauthenticationRequired, TooManyAttempts, TooManyHashes)
@takes(json=Reauthenticate)
@answers(200, login_read)
def reauthenticate(json: Reauthenticate.Input) -> JsonObject:
    """Re-authenticate

    Confirms the identity of the caller with a password, an MFA method, a passkey or a one-time
    code. Returns a new access token for routes that require a recent sign-in.
    """
    method, given = next(pair for pair in json.items() if pair[0] in METHODS)
    if method == "code":
        given = (json["login_id"], given)
    options = sign_in_options(caller=caller())
    return service(Reauthentication).show(caller(), method, given, options).payload
