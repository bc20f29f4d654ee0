from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers, json_response
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import instance, takes
from ..caller import caller, find_caller
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    InactiveCaller,
    InvalidProof,
    PasskeyRefused,
    ReauthenticationRequired,
)
from ..guards import account_optional, account_required
from ..mfa.enrolling import Enrollers, Enrolling
from ..mfa.errors import FactorsOff, TooManyAuthenticators, UnprovenAddress
from ..mfa.schemas import AuthenticatorRead, enrolled_read
from ..schemas import login_read
from ..sign_in.admitting import admits
from ..sign_in.entrance import go_on_as
from ..sign_in.gate import payload_of
from . import cookie_routes as cookie_routes
from . import examples
from .blueprint import blueprint as blueprint
from .bodies import NewPasskey, PasskeyBegin, PasskeyLoginBegin, ShownPasskey
from .errors import NewPasskeyRefused, PasskeyTaken
from .registration import PasskeyRegistration
from .schemas import CreationOptions, RequestOptions
from .showing import STEP_UP, PasskeyProofs
from .sign_in import PasskeyLogin


@blueprint.post("/authenticators/passkey/options")
@account_optional
@example(answer=examples.CREATION_OPTIONS)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FactorsOff)
@takes(json=PasskeyBegin)
@answers(200, CreationOptions, ready=True)
def begin_passkey(json: dict[str, Any]) -> dict[str, Any]:
    """Get what a browser needs to make a passkey: good for five minutes, and for one

    Asks for a sign-in of the last minutes, with a second factor where the account has one, or for
    the `mfa_token` of a 403 `mfa_enrolment_required`.
    """
    return service(PasskeyRegistration).options(_enrolling(json))


@blueprint.post("/authenticators/passkey")
@account_optional
@example(json=examples.NEW_PASSKEY, answer=examples.PASSKEY, answer_200=examples.ENROLLED)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FactorsOff, NewPasskeyRefused, PasskeyTaken, KeystoreUnavailable)
@raises(InactiveAccount, AwaitsVerification, AccountDeleting)
@admits
@takes(json=NewPasskey)
@answers(200, enrolled_read, description="It is a second factor: signed in anew")
@answers(201, AuthenticatorRead)
def add_passkey(json: dict[str, Any]) -> Any:
    """Add the passkey that the browser has made

    Where it is a second factor too, every sign-in from before ends, and the answer has a new one,
    with ten recovery codes where there were none.
    """
    registration = service(PasskeyRegistration)
    added = registration.add(_enrolling(json), json["name"], json["credential"])
    if added.outcome is None:
        return added.passkey
    signed_in = {**payload_of(added.outcome), "recovery_codes": added.recovery_codes}
    return json_response(instance(enrolled_read()).dump(signed_in))


@blueprint.post("/login/passkey/options")
@anyone
@example(answer=examples.REQUEST_OPTIONS)
@raises(InvalidProof)
@takes(json=PasskeyLoginBegin)
@answers(200, RequestOptions, ready=True)
def begin_passkey_login(json: dict[str, Any]) -> dict[str, Any]:
    """Get what a browser needs to sign in by a passkey: nobody is named

    With the `mfa_token` of a 403 `mfa_required`: to show one as the second factor, to `/login/mfa`.
    """
    return service(PasskeyLogin).options(json["mfa_token"])


@blueprint.post("/login/passkey")
@anyone
@admits
@example(json=examples.SHOWN_PASSKEY, answer=examples.SIGNED_IN)
@raises(PasskeyRefused, InactiveAccount, AwaitsVerification, AccountDeleting, KeystoreUnavailable)
@takes(json=ShownPasskey)
@answers(200, login_read)
def log_in_by_passkey(json: dict[str, Any]) -> dict[str, Any]:
    """Sign in by a passkey"""
    return payload_of(service(PasskeyLogin).with_passkey(json["credential"]))


@blueprint.post("/reauthenticate/passkey/options")
@account_required
@example(answer=examples.REQUEST_OPTIONS)
@answers(200, RequestOptions, ready=True)
def begin_reauthentication() -> dict[str, Any]:
    """Get what a browser needs to show one of the caller's passkeys once more"""
    return service(PasskeyProofs).options(STEP_UP, caller().account.id)


def _enrolling(json: dict[str, Any]) -> Enrolling:
    found = find_caller()
    go_on_as(found)
    return service(Enrollers).find(found, json["mfa_token"])
