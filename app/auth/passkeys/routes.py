"""Routes of passkeys: add a passkey, and sign in with it by token or cookie."""

from ...core.context import service
from ...core.errors import FeatureOff
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...core.web.blueprint import Blueprint
from ...core.web.operation import anyone, example, raises
from ...core.web.request_data import takes
from ...core.web.responses import AnswerWith, answers
from ..caller import caller, find_caller
from ..decorators import account_optional, account_required, raises_sign_in_problems
from ..errors import (
    INACTIVE_PROBLEMS,
    InactiveCaller,
    InvalidProof,
    PasskeyRefused,
    ReauthenticationRequired,
)
from ..mfa.errors import TooManyAuthenticators, UnprovenAddress
from ..mfa.models import Authenticator
from ..mfa.policy import find_enrollee
from ..mfa.schemas import AuthenticatorRead, enrolled_read
from ..schemas import login_read
from ..sessions.cookie_sessions import CookieSessions, signs_in_by_cookie
from ..sessions.schemas import COOKIE_SESSION, cookie_session_read
from ..sign_in.options import sign_in_options
from ..sign_in.policy import response_payload
from ..webauthn.schemas import CreationOptions, RequestOptions
from . import bodies
from .bodies import NewPasskey, PasskeyBegin, PasskeyLoginBegin, ShownPasskey
from .registration import NewPasskeyRefused, PasskeyRegistration, PasskeyTaken
from .sign_in import STEP_UP, PasskeyLogin, PasskeyProofs

blueprint = Blueprint(
    "passkeys",
    __name__,
    needs=PasskeyLogin,
    about="Passkeys: register them and sign in with them",
    remedy="set AUTH.PASSKEYS to `on`.",
)


@blueprint.post("/authenticators/passkey/options")
@account_optional
@example(answer=bodies.CREATION_OPTIONS)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FeatureOff)
@takes(json=PasskeyBegin)
@answers(200, CreationOptions, ready=True)
def begin_passkey(json: PasskeyBegin.Input) -> JsonObject:
    """Get the options for a browser that creates a passkey

    They are valid for five minutes and one passkey. Requires a recent sign-in, with a second factor
    if the account has one, or the `mfa_token` of a 403 `mfa_enrolment_required`.
    """
    return service(PasskeyRegistration).options(find_enrollee(json["mfa_token"]))


@blueprint.post("/authenticators/passkey")
@account_optional
@example(json=bodies.NEW_PASSKEY, answer=bodies.PASSKEY, answer_200=bodies.ENROLLED)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FeatureOff, NewPasskeyRefused, PasskeyTaken, KeystoreUnavailable)
@raises(*INACTIVE_PROBLEMS)
@raises_sign_in_problems
@takes(json=NewPasskey)
@answers(
    200, enrolled_read, description="The passkey is a second factor: the response has a new sign-in"
)
@answers(201, AuthenticatorRead)
def add_passkey(json: NewPasskey.Input) -> Authenticator | AnswerWith:
    """Add a passkey that the browser has created

    If passkeys are second factors, every earlier sign-in ends, and the response has a new one, with
    ten recovery codes if the account had none.
    """
    enrollee, options = find_enrollee(json["mfa_token"]), sign_in_options(caller=find_caller())
    added = service(PasskeyRegistration).add(enrollee, json["name"], json["credential"], options)
    if added.outcome is None:
        return added.passkey
    signed_in = {**response_payload(added.outcome), "recovery_codes": added.recovery_codes}
    return AnswerWith(signed_in, 200)


@blueprint.post("/login/passkey/options")
@anyone
@example(answer=bodies.REQUEST_OPTIONS)
@raises(InvalidProof)
@takes(json=PasskeyLoginBegin)
@answers(200, RequestOptions, ready=True)
def begin_passkey_login(json: PasskeyLoginBegin.Input) -> JsonObject:
    """Get the options for a browser that signs in with a passkey

    Without an account: the passkey identifies it. With the `mfa_token` of a 403 `mfa_required`, the
    options are for a passkey as the second factor, at `/login/mfa`.
    """
    return service(PasskeyLogin).options(json["mfa_token"])


@blueprint.post("/login/passkey")
@anyone
@raises_sign_in_problems
@example(json=bodies.SHOWN_PASSKEY, answer=bodies.SIGNED_IN)
@raises(PasskeyRefused, *INACTIVE_PROBLEMS, KeystoreUnavailable)
@takes(json=ShownPasskey)
@answers(200, login_read)
def log_in_by_passkey(json: ShownPasskey.Input) -> JsonObject:
    """Sign in with a passkey"""
    return response_payload(service(PasskeyLogin).sign_in(json["credential"], sign_in_options()))


@blueprint.post("/reauthenticate/passkey/options")
@account_required
@example(answer=bodies.REQUEST_OPTIONS)
@answers(200, RequestOptions, ready=True)
def begin_reauthentication() -> JsonObject:
    """Get the options for a browser that re-authenticates with one of the caller's passkeys"""
    return service(PasskeyProofs).options(STEP_UP, caller().account.id)


@blueprint.post("/session/passkey", only_with=CookieSessions)
@anyone
@signs_in_by_cookie
@raises_sign_in_problems
@example(json=bodies.SHOWN_PASSKEY, answer=COOKIE_SESSION)
@raises(PasskeyRefused, *INACTIVE_PROBLEMS, KeystoreUnavailable)
@takes(json=ShownPasskey)
@answers(200, cookie_session_read)
def open_cookie_session_by_passkey(json: ShownPasskey.Input) -> JsonObject:
    """Sign in by cookie with a passkey"""
    return response_payload(service(PasskeyLogin).sign_in(json["credential"], sign_in_options()))
