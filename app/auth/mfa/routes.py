from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..caller import caller, find_caller
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    InactiveCaller,
    InvalidProof,
    PasskeyRefused,
    ReauthenticationRequired,
    TooManyAttempts,
)
from ..guards import account_optional, active_account_required
from ..sign_in.entrance import go_on_as
from ..sign_in.gate import payload_of
from . import admin_routes as admin_routes
from . import cookie_routes as cookie_routes
from . import examples, totp
from . import recovery_routes as recovery_routes
from .authenticators import Authenticators
from .blueprint import blueprint as blueprint
from .enrolling import Enrollers, Enrolling
from .enrolment import AppEnrolment
from .errors import (
    AuthenticatorNotFound,
    FactorsOff,
    LastFactor,
    SecretUnreadable,
    TooManyAuthenticators,
    UnprovenAddress,
    WrongFactor,
)
from .guards import factors_required, fresh_factor_required
from .models import Authenticator
from .schemas import (
    AppBegin,
    AppConfirm,
    AppRead,
    AuthenticatorEdit,
    AuthenticatorRead,
    SecondStepForm,
    enrolled_read,
    second_step_read,
)
from .second_step import finish


@blueprint.post("/login/mfa")
@anyone
@factors_required
@example(json=examples.SECOND_STEP, answer=examples.TRUSTED)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(PasskeyRefused, InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=SecondStepForm)
@answers(200, second_step_read)
def finish_login(json: dict[str, Any]) -> dict[str, Any]:
    """Finish a sign-in with a second factor

    `mfa_token` came with the 403 `mfa_required`, and is good for five minutes and five tries.
    """
    return payload_of(finish(json))


@blueprint.get("/authenticators")
@active_account_required
@example(answer=[examples.AUTHENTICATOR])
@answers(200, AuthenticatorRead, many=True)
def list_authenticators() -> Sequence[Authenticator]:
    """List the caller's authenticators: apps and passkeys"""
    return service(Authenticators).list(caller().account.id)


@blueprint.post("/authenticators/totp")
@account_optional
@factors_required
@example(json=examples.BEGIN, answer=examples.APP)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FactorsOff)
@takes(json=AppBegin)
@answers(201, AppRead)
def begin_app(json: dict[str, Any]) -> dict[str, Any]:
    """Begin to set an authenticator app up

    It counts once one of its codes is confirmed, for which there are ten minutes. Asks for a
    sign-in of the last minutes, or for the `mfa_token` of a 403 `mfa_enrolment_required`.
    """
    begun = service(AppEnrolment).begin(_enrolling(json), json["name"])
    return {**begun, "qr": totp.qr_code(begun["uri"])}


@blueprint.post("/authenticators/<row_id:authenticator_id>/confirm")
@account_optional
@factors_required
@example(json=examples.CONFIRM, answer=examples.ENROLLED)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(AuthenticatorNotFound, WrongFactor, SecretUnreadable, KeystoreUnavailable)
@raises(InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=AppConfirm)
@answers(200, enrolled_read)
def confirm_app(authenticator_id: int, json: dict[str, Any]) -> dict[str, Any]:
    """Confirm an authenticator app with one of its codes

    Every sign-in from before ends, and the answer has a new one. With the first authenticator come
    ten recovery codes.
    """
    who = _enrolling(json)
    enrolled = service(AppEnrolment).confirm(who, authenticator_id, json["otp"])
    return {**payload_of(enrolled.outcome), "recovery_codes": enrolled.recovery_codes}


@blueprint.patch("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(json=examples.NAME, answer=examples.RENAMED)
@raises(AuthenticatorNotFound)
@takes(json=AuthenticatorEdit)
@answers(200, AuthenticatorRead)
def rename_authenticator(authenticator_id: int, json: dict[str, Any]) -> Authenticator:
    """Give an authenticator another name"""
    authenticators = service(Authenticators)
    return authenticators.rename(caller().account.id, authenticator_id, json["name"])


@blueprint.delete("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(answer=examples.AUTHENTICATOR)
@raises(AuthenticatorNotFound, LastFactor)
@answers(200, AuthenticatorRead)
def remove_authenticator(authenticator_id: int) -> Authenticator:
    """Remove an authenticator; recovery codes and trusted devices go with the last one"""
    return service(Authenticators).remove(caller().attached_account, authenticator_id)


def _enrolling(json: dict[str, Any]) -> Enrolling:
    found = find_caller()
    go_on_as(found)
    return service(Enrollers).find(found, json["mfa_token"])
