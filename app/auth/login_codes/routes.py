"""Sign-in by a code that is emailed: for a token, and for a cookie."""

from typing import TypedDict

from marshmallow import Schema, fields

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...core.web.blueprint import Blueprint
from ...core.web.fields import RequestSchema, Text, response_field
from ...core.web.operation import anyone, example, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from ..blueprint import client_ip_address
from ..decorators import raises_sign_in_problems
from ..errors import AccountDeleting, InactiveAccount, InvalidProof, SignUpNeeded, TooManyAttempts
from ..examples import CODE, EMAIL, SIGNED_IN
from ..schemas import login_read
from ..sessions.cookie_sessions import CookieSessions, signs_in_by_cookie
from ..sessions.schemas import COOKIE_SESSION, cookie_session_read
from ..sign_in.options import sign_in_options
from ..sign_in.policy import response_payload
from .codes import ID_LENGTH
from .service import LoginByCode

ASK = {"email": EMAIL}
ASKED = {"login_id": "kX0o2c3v9yJb1dQe7uWf4aHs6tZr8mPn"}
PROOF = {**ASKED, "code": CODE}

blueprint = Blueprint(
    "login_codes",
    __name__,
    needs=LoginByCode,
    about="Sign-in with a one-time code by email",
    remedy="set AUTH.LOGIN_BY_CODE to `on`.",
)


class AskForCode(RequestSchema):
    class Input(TypedDict):
        email: str

    email = Text(min=1, max=320, required=True, description="Email address that receives the code.")


class CodeAskedFor(Schema):
    login_id = response_field(
        fields.String, "Identifier of this sign-in. The code is valid only together with it."
    )


class MailedCode(RequestSchema):
    class Input(TypedDict):
        login_id: str
        code: str

    login_id = Text(
        min=1,
        blank=True,
        max=ID_LENGTH,
        required=True,
        description="`login_id` from the response to the request for the code.",
    )
    code = Text(
        min=1, blank=True, max=64, required=True, description="One-time code from the email."
    )


@blueprint.post("/login/code")
@anyone
@example(json=ASK, answer=ASKED)
@raises(TooManyAttempts, KeystoreUnavailable)
@takes(json=AskForCode)
@answers(202, CodeAskedFor)
def ask_for_code(json: AskForCode.Input) -> dict[str, str]:
    """Send a one-time code for sign-in

    The response is the same whether the email address has an account or not.
    """
    return {"login_id": service(LoginByCode).request(json["email"], client_ip_address())}


@blueprint.post("/login/code/verify")
@anyone
@raises_sign_in_problems
@example(json=PROOF, answer=SIGNED_IN)
@raises(InvalidProof, InactiveAccount, AccountDeleting, SignUpNeeded, KeystoreUnavailable)
@takes(json=MailedCode)
@answers(200, login_read)
def log_in_by_code(json: MailedCode.Input) -> JsonObject:
    """Sign in with a one-time code

    Creates an account if the email address has none and registration is open.
    """
    return _sign_in(json)


@blueprint.post("/session/code", only_with=CookieSessions)
@anyone
@signs_in_by_cookie
@raises_sign_in_problems
@example(json=PROOF, answer=COOKIE_SESSION)
@raises(InvalidProof, InactiveAccount, AccountDeleting, SignUpNeeded, KeystoreUnavailable)
@takes(json=MailedCode)
@answers(200, cookie_session_read)
def open_cookie_session_by_code(json: MailedCode.Input) -> JsonObject:
    """Sign in with a cookie session and a one-time code

    Request the code with `POST /login/code`.
    """
    return _sign_in(json)


def _sign_in(json: MailedCode.Input) -> JsonObject:
    """Either route: `signs_in_by_cookie` decides whether the session is a cookie or a token."""
    outcome = service(LoginByCode).sign_in(json["login_id"], json["code"], sign_in_options())
    return response_payload(outcome)
