"""Second factors: finishing a sign-in, authenticators, recovery codes, trusted devices, resets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from marshmallow import Schema, fields

from ...accounts.errors import AccountNotFound
from ...core.context import current_frontdesk, service
from ...core.keystore import KeystoreUnavailable
from ...core.types import AccountKey, JsonObject, Loaded
from ...core.web.blueprint import Blueprint
from ...core.web.operation import anyone, example, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from ..caller import caller, find_caller
from ..decorators import (
    CREDENTIAL_PROBLEMS,
    account_optional,
    active_account_required,
    guard,
    superuser_required,
)
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    InactiveCaller,
    InvalidProof,
    NotAuthorized,
    PasskeyRefused,
    ReauthenticationRequired,
    TooManyAttempts,
)
from ..sessions.by_cookie import SESSION, cookie_session_read, signs_in_by_cookie
from ..sessions.cookie_sessions import CookieSessions
from ..settings import AuthSettings
from ..sign_in.options import sign_in_options
from ..sign_in.policy import payload_of
from . import schemas, totp
from .apps import AppEnrolment
from .authenticators import Authenticators, FactorResets
from .devices import TrustedDevices
from .errors import (
    AuthenticatorNotFound,
    FactorsOff,
    LastFactor,
    NoFactor,
    SecretUnreadable,
    TooManyAuthenticators,
    TrustedDeviceNotFound,
    UnprovenAddress,
    WrongFactor,
)
from .models import Authenticator, TrustedDevice
from .policy import Enrollers, Enrolling, FactorFreshness
from .recovery_codes import CodeRenewal, RecoveryCodes
from .schemas import (
    SHOWN,
    TRUSTED_DEVICE,
    AppBegin,
    AppConfirm,
    AppRead,
    AuthenticatorEdit,
    AuthenticatorRead,
    FactorsReset,
    RecoveryCodesLeft,
    RecoveryCodesRead,
    SecondStepForm,
    TrustedDeviceRead,
    enrolled_read,
    second_step_read,
)
from .sign_in import SecondStep

blueprint = Blueprint(
    "mfa",
    __name__,
    needs=Authenticators,
    about="Second factors, recovery codes and trusted devices",
)


@guard(FactorsOff, bearer=False)
def factors_required() -> None:
    """Second factors are switched on; where they are not, passkeys alone may be."""
    if current_frontdesk.settings.of(AuthSettings).MFA == "off":
        raise FactorsOff


@guard(*CREDENTIAL_PROBLEMS, ReauthenticationRequired)
def fresh_factor_required() -> None:
    """A sign-in of the last minutes, with a second factor where the account has one."""
    service(FactorFreshness).check(caller())


@blueprint.post("/login/mfa")
@anyone
@factors_required
@example(json=schemas.SECOND_STEP, answer=schemas.TRUSTED)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(PasskeyRefused, InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=SecondStepForm)
@answers(200, second_step_read)
def finish_login(json: Loaded) -> JsonObject:
    """Finish a sign-in with a second factor

    `mfa_token` came with the 403 `mfa_required`, and is good for five minutes and five tries.
    """
    return _finish(json)


@blueprint.get("/authenticators")
@active_account_required
@example(answer=[schemas.AUTHENTICATOR])
@answers(200, AuthenticatorRead, many=True)
def list_authenticators() -> Sequence[Authenticator]:
    """List the caller's authenticators: apps and passkeys"""
    return service(Authenticators).list(caller().account.id)


@blueprint.post("/authenticators/totp")
@account_optional
@factors_required
@example(json=schemas.BEGIN, answer=schemas.APP)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators, FactorsOff)
@takes(json=AppBegin)
@answers(201, AppRead)
def begin_app(json: Loaded) -> JsonObject:
    """Begin to set an authenticator app up

    It counts once one of its codes is confirmed, for which there are ten minutes. Asks for a
    sign-in of the last minutes, or for the `mfa_token` of a 403 `mfa_enrolment_required`.
    """
    begun = service(AppEnrolment).begin(_enrolling(json), json["name"])
    return {**begun, "qr": totp.qr_code(begun["uri"])}


@blueprint.post("/authenticators/<row_id:authenticator_id>/confirm")
@account_optional
@factors_required
@example(json=schemas.CONFIRM, answer=schemas.ENROLLED)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(AuthenticatorNotFound, WrongFactor, SecretUnreadable, KeystoreUnavailable)
@raises(InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=AppConfirm)
@answers(200, enrolled_read)
def confirm_app(authenticator_id: int, json: Loaded) -> JsonObject:
    """Confirm an authenticator app with one of its codes

    Every sign-in from before ends, and the answer has a new one. With the first authenticator come
    ten recovery codes.
    """
    who = _enrolling(json)
    enrolled = service(AppEnrolment).confirm(
        who, authenticator_id, json["otp"], sign_in_options(caller=find_caller())
    )
    return {**payload_of(enrolled.outcome), "recovery_codes": enrolled.recovery_codes}


@blueprint.patch("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(json=schemas.NAME, answer=schemas.RENAMED)
@raises(AuthenticatorNotFound)
@takes(json=AuthenticatorEdit)
@answers(200, AuthenticatorRead)
def rename_authenticator(authenticator_id: int, json: Loaded) -> Authenticator:
    """Give an authenticator another name"""
    authenticators = service(Authenticators)
    return authenticators.rename(caller().account.id, authenticator_id, json["name"])


@blueprint.delete("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(answer=schemas.AUTHENTICATOR)
@raises(AuthenticatorNotFound, LastFactor)
@answers(200, AuthenticatorRead)
def remove_authenticator(authenticator_id: int) -> Authenticator:
    """Remove an authenticator; recovery codes and trusted devices go with the last one"""
    return service(Authenticators).remove(caller().attached_account, authenticator_id)


def _enrolling(json: Loaded) -> Enrolling:
    return service(Enrollers).find(find_caller(), json["mfa_token"])


def _finish(json: Loaded) -> JsonObject:
    """Either route: `signs_in_by_cookie` decides whether the session is a cookie or a token."""
    [field] = SHOWN.keys() & json.keys()
    outcome = service(SecondStep).finish(
        json["mfa_token"], SHOWN[field], json[field], sign_in_options(), trust=json["trust"]
    )
    return payload_of(outcome)


def cookie_second_step_read() -> type[Schema]:
    return _with_device(cookie_session_read())


@cache
def _with_device(session: type[Schema]) -> type[Schema]:
    device = fields.String(metadata=TRUSTED_DEVICE)
    return type("CookieSecondStepRead", (session,), {"trusted_device": device})


@blueprint.post("/session/mfa", only_with=CookieSessions)
@anyone
@factors_required
@signs_in_by_cookie
@example(json=schemas.SECOND_STEP, answer=SESSION)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(InactiveAccount, AwaitsVerification, AccountDeleting)
@takes(json=SecondStepForm)
@answers(200, cookie_second_step_read)
def finish_cookie_session(json: Loaded) -> JsonObject:
    """Finish a sign-in by a cookie with a second factor

    `mfa_token` came with the 403 `mfa_required` of `POST /session`.
    """
    return _finish(json)


@blueprint.get("/recovery-codes")
@active_account_required
@factors_required
@example(answer=schemas.LEFT)
@answers(200, RecoveryCodesLeft)
def count_recovery_codes() -> JsonObject:
    """Get how many recovery codes the caller has left"""
    return {"left": service(RecoveryCodes).left(caller().account.id)}


@blueprint.post("/recovery-codes")
@active_account_required
@factors_required
@fresh_factor_required
@example(answer=schemas.RECOVERY_CODES)
@raises(NoFactor)
@answers(201, RecoveryCodesRead)
def make_recovery_codes() -> JsonObject:
    """Make ten new recovery codes; the old ones are dead"""
    return {"recovery_codes": service(CodeRenewal).renew(caller().attached_account)}


@blueprint.get("/trusted-devices")
@active_account_required
@factors_required
@example(answer=[schemas.DEVICE])
@answers(200, TrustedDeviceRead, many=True)
def list_trusted_devices() -> Sequence[TrustedDevice]:
    """List the devices that are not asked for the caller's second factor"""
    return service(TrustedDevices).list(caller().account.id)


@blueprint.delete("/trusted-devices/<row_id:device_id>")
@active_account_required
@factors_required
@example(answer=schemas.DEVICE)
@raises(TrustedDeviceNotFound)
@answers(200, TrustedDeviceRead)
def forget_trusted_device(device_id: int) -> TrustedDevice:
    """Trust a device no longer"""
    return service(TrustedDevices).revoke(caller().account.id, device_id)


@blueprint.delete("/admin/accounts/<account_id:account_id>/authenticators")
@superuser_required
@fresh_factor_required
@example(answer=schemas.RESET)
@raises(AccountNotFound, NotAuthorized)
@answers(200, FactorsReset)
def reset_authenticators(account_id: AccountKey) -> dict[str, int]:
    """Take all second factors from somebody who has lost them, and end every sign-in of theirs

    Whoever asks for it must have shown you who they are in another way.
    """
    gone = service(FactorResets).reset_another(caller().account, account_id)
    return {"authenticators": gone}
