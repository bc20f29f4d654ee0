"""Routes of MFA: the second step of a sign-in, authenticators, recovery codes, trusted devices."""

from collections.abc import Sequence

from marshmallow import Schema

from ...core.context import current_frontdesk, service
from ...core.errors import FeatureOff
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...core.web.blueprint import Blueprint
from ...core.web.operation import anyone, example, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from ..caller import caller, find_caller
from ..decorators import account_optional, active_account_required, fresh_factor_required, guard
from ..errors import (
    INACTIVE_PROBLEMS,
    InactiveCaller,
    InvalidProof,
    PasskeyRefused,
    ReauthenticationRequired,
    TooManyAttempts,
)
from ..sessions.cookie_sessions import CookieSessions, signs_in_by_cookie
from ..sessions.schemas import COOKIE_SESSION, cookie_session_read
from ..settings import AuthSettings
from ..sign_in.options import sign_in_options
from ..sign_in.policy import response_payload
from . import schemas, totp
from .apps import AppEnrollment
from .authenticators import Authenticators
from .changes import FactorChanges
from .devices import TrustedDevices
from .errors import (
    AuthenticatorNotFound,
    LastFactor,
    NoFactor,
    SecretUnreadable,
    TooManyAuthenticators,
    TrustedDeviceNotFound,
    UnprovenAddress,
    WrongFactor,
    method_off,
)
from .models import TOTP_KIND, Authenticator, TrustedDevice
from .policy import Requirement, find_enrollee
from .recovery_codes import RecoveryCodes
from .sign_in import SecondStep

_SECOND_STEP = """\
# With MFA, the response to the sign-in is 403 with the code `mfa_required`, and has `mfa_token`.
mfa_token=…
curl "$server{finish_login}" -H "Content-Type: application/json" \\
  -d '{"mfa_token": "'"$mfa_token"'", "otp": "123456"}'"""
blueprint = Blueprint(
    "mfa",
    __name__,
    needs=Authenticators,
    about="Multi-factor authentication: authenticator apps, recovery codes, trusted devices",
    flow=("Sign in with a second factor", _SECOND_STEP),
    remedy="set AUTH.MFA to `optional` or `required`.",
)


@guard(FeatureOff, bearer=False)
def factors_required() -> None:
    """Require that second factors are enabled: passkeys can be enabled without them."""
    if current_frontdesk.settings.of(AuthSettings).MFA == "off":
        raise FeatureOff(note={"setting": "AUTH__MFA"})


@guard(FeatureOff, bearer=False)
def apps_required() -> None:
    """Require that authenticator apps are an MFA method, before the caller is authenticated."""
    if TOTP_KIND not in service(Requirement).methods:
        raise method_off()


@blueprint.post("/login/mfa", only_with=SecondStep)
@anyone
@example(json=schemas.SECOND_STEP, answer=schemas.TRUSTED)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(PasskeyRefused, *INACTIVE_PROBLEMS)
@takes(json=schemas.SecondStepForm)
@answers(200, schemas.second_step_read)
def finish_login(json: schemas.SecondStepForm.Input) -> JsonObject:
    """Finish a sign-in with MFA

    Send the `mfa_token` of the response with the code `mfa_required`. It is valid for five minutes
    and five attempts.
    """
    return _finish(json)


@blueprint.get("/authenticators")
@active_account_required
@example(answer=[schemas.AUTHENTICATOR])
@answers(200, schemas.AuthenticatorRead, many=True)
def list_authenticators() -> Sequence[Authenticator]:
    """List the caller's MFA methods and passkeys"""
    return service(Authenticators).list(caller().account.id)


@blueprint.post("/authenticators/totp", only_with=SecondStep)
@apps_required
@account_optional
@example(json=schemas.BEGIN, answer=schemas.APP)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(TooManyAuthenticators)
@takes(json=schemas.AppBegin)
@answers(201, schemas.AppRead)
def begin_app(json: schemas.AppBegin.Input) -> JsonObject:
    """Begin to set up an authenticator app

    The app is active once one of its codes is confirmed, within ten minutes. Requires a recent
    sign-in, or the `mfa_token` of a 403 `mfa_enrolment_required`.
    """
    setup = service(AppEnrollment).begin(find_enrollee(json["mfa_token"]), json["name"])
    return {**setup, "qr": totp.qr_code(setup["uri"])}


@blueprint.post("/authenticators/<row_id:authenticator_id>/confirm", only_with=SecondStep)
@account_optional
@example(json=schemas.CONFIRM, answer=schemas.ENROLLED)
@raises(InactiveCaller, ReauthenticationRequired, InvalidProof, UnprovenAddress)
@raises(AuthenticatorNotFound, WrongFactor, SecretUnreadable, KeystoreUnavailable)
@raises(*INACTIVE_PROBLEMS)
@takes(json=schemas.AppConfirm)
@answers(200, schemas.enrolled_read)
def confirm_app(authenticator_id: int, json: schemas.AppConfirm.Input) -> JsonObject:
    """Confirm an authenticator app

    Activates the app with its current code, ends all other sessions and returns a new access token.
    The first MFA method also returns ten recovery codes.
    """
    enrollee, options = find_enrollee(json["mfa_token"]), sign_in_options(caller=find_caller())
    enrolled = service(AppEnrollment).confirm(enrollee, authenticator_id, json["otp"], options)
    return {**response_payload(enrolled.outcome), "recovery_codes": enrolled.recovery_codes}


@blueprint.patch("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(json=schemas.NAME, answer=schemas.RENAMED)
@raises(AuthenticatorNotFound)
@takes(json=schemas.AuthenticatorEdit)
@answers(200, schemas.AuthenticatorRead)
def rename_authenticator(
    authenticator_id: int, json: schemas.AuthenticatorEdit.Input
) -> Authenticator:
    """Rename an authenticator"""
    authenticators = service(Authenticators)
    return authenticators.rename(caller().account.id, authenticator_id, json["name"])


@blueprint.delete("/authenticators/<row_id:authenticator_id>")
@active_account_required
@fresh_factor_required
@example(answer=schemas.AUTHENTICATOR)
@raises(AuthenticatorNotFound, LastFactor)
@answers(200, schemas.RemovedAuthenticator)
def remove_authenticator(authenticator_id: int) -> JsonObject:
    """Remove an MFA method

    Ends all other sessions and trusted devices. Without `AUTH__SESSIONS`, all access tokens end and
    the response has a new one. Removing the last MFA method also removes recovery codes.
    """
    return service(FactorChanges).remove(caller(), authenticator_id)


def _finish(json: schemas.SecondStepForm.Input) -> JsonObject:
    """Finish a sign-in for both routes: `signs_in_by_cookie` decides between cookie and token."""
    [(field, value)] = [pair for pair in json.items() if pair[0] in schemas.FACTOR_FIELDS]
    kind, options = schemas.FACTOR_FIELDS[field], sign_in_options()
    return response_payload(
        service(SecondStep).finish(json["mfa_token"], kind, value, options, trust=json["trust"])
    )


def cookie_second_step_read() -> type[Schema]:
    return schemas.with_trusted_device("CookieSecondStepRead", cookie_session_read())


@blueprint.post("/session/mfa", only_with=(CookieSessions, SecondStep))
@anyone
@signs_in_by_cookie
@example(json=schemas.SECOND_STEP, answer=COOKIE_SESSION)
@raises(InvalidProof, WrongFactor, TooManyAttempts, SecretUnreadable, KeystoreUnavailable)
@raises(*INACTIVE_PROBLEMS)
@takes(json=schemas.SecondStepForm)
@answers(200, cookie_second_step_read)
def finish_cookie_session(json: schemas.SecondStepForm.Input) -> JsonObject:
    """Finish a sign-in by cookie with a second factor

    `mfa_token` comes with the 403 `mfa_required` of `POST /session`.
    """
    return _finish(json)


@blueprint.get("/recovery-codes", only_with=SecondStep)
@active_account_required
@example(answer=schemas.LEFT)
@answers(200, schemas.RecoveryCodesLeft)
def count_recovery_codes() -> JsonObject:
    """Get the number of the caller's unused recovery codes"""
    return {"left": service(RecoveryCodes).count_left(caller().account.id)}


@blueprint.post("/recovery-codes", only_with=SecondStep)
@active_account_required
@fresh_factor_required
@example(answer=schemas.RECOVERY_CODES)
@raises(NoFactor)
@answers(201, schemas.RecoveryCodesRead)
def make_recovery_codes() -> JsonObject:
    """Create ten new recovery codes, which replace the earlier codes

    Ends all other sessions. Without `AUTH__SESSIONS`, all access tokens end and the response has a
    new one.
    """
    return service(FactorChanges).renew_recovery_codes(caller())


@blueprint.get("/trusted-devices", only_with=SecondStep)
@active_account_required
@example(answer=[schemas.DEVICE])
@answers(200, schemas.TrustedDeviceRead, many=True)
def list_trusted_devices() -> Sequence[TrustedDevice]:
    """List the caller's trusted devices, which need no second factor"""
    return service(TrustedDevices).list(caller().account.id)


@blueprint.delete("/trusted-devices/<row_id:device_id>", only_with=SecondStep)
@active_account_required
@example(answer=schemas.DEVICE)
@raises(TrustedDeviceNotFound)
@answers(200, schemas.TrustedDeviceRead)
def forget_trusted_device(device_id: int) -> TrustedDevice:
    """Revoke a trusted device"""
    return service(TrustedDevices).revoke(caller().account.id, device_id)
