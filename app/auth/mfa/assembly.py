import logging
from functools import partial

from ...accounts.actions import EMAIL_CHANGED
from ...accounts.models import AccountLike
from ...accounts.service import Accounts, Reclaimer
from ...core.config.environment import SettingsError
from ...core.context import Context, Pruner
from ...core.db.transaction import after_commit
from ...core.extras import missing_extra
from ...core.keystore import KeystoreUnavailable
from ...core.web.operation import PathVariable
from ...delivery.mail.brand import BrandSettings
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ..actions import PASSWORD_CHANGED_SIGNAL, PASSWORD_RESET_SIGNAL
from ..features import FactorFeature, PasskeyFeature
from ..limits import Failures
from ..proof_names import PASSKEY, RECOVERY_CODE
from ..proofs import Proofs
from ..sealing import Sealing, encryption_keys
from ..sessions.management import SessionManagement
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from ..step_up.service import StepUp
from .app_codes import AuthenticatorApps
from .apps import AppEnrollment
from .authenticators import Authenticators, remove_factors
from .changes import FactorChanges
from .devices import TrustedDevices
from .errors import SecretUnreadable, WrongFactor
from .factors import FactorCheck, SecondFactors
from .limits import FactorLimits
from .mfa_tokens import MfaTokens
from .models import TOTP_KIND, Authenticator, RecoveryCode, TrustedDevice
from .notices import FactorNotices
from .policy import Requirement
from .recovery_codes import CodeDigests, RecoveryCodes
from .reencryption import Reencryption
from .sign_in import STAGE_REFUSALS, FactorStage, SecondStep, step_up_methods

log = logging.getLogger(__name__)


def assemble(context: Context) -> None:
    """Add the services, also if only passkeys are enabled: passkeys are authenticators too."""
    if line := missing_extra("mfa"):
        raise SettingsError(f"AUTH.MFA or AUTH.PASSKEYS is on, and needs an extra: {line}")
    for model in (Authenticator, RecoveryCode, TrustedDevice):
        context.tables.add(model)
    auth, session, clock = context.settings.of(AuthSettings), context.session, context.clock
    keys = encryption_keys(context.settings)
    if not auth.ENCRYPTION_KEYS and not context.settings.secret_key_is_set:
        log.warning(
            "Neither AUTH.ENCRYPTION_KEYS nor SECRET_KEY is set: second factors that are set up now"
            " cannot be used after a restart."
        )
    context.add(Requirement.of(auth))
    context.add(AuthenticatorApps(session, Sealing(keys), clock))
    context.provide(
        FactorNotices,
        lambda known: FactorNotices(session, known.get(Templates), known.get(OwnerMail)),
    )
    context.provide(
        RecoveryCodes,
        lambda known: RecoveryCodes(session, CodeDigests(keys), known.get(FactorNotices), clock),
    )
    context.provide(TrustedDevices, _devices)
    context.provide(Authenticators, _authenticators)
    context.provide(FactorLimits, _limits)
    context.provide(MfaTokens, _tokens)
    context.provide(SecondFactors, _factors)
    context.provide(FactorFeature, _feature)
    context.provide(AppEnrollment, _enrollment)
    if auth.MFA != "off":
        context.provide(SecondStep, _second_step)
    context.provide(FactorChanges, _changes)
    context.provide(Reencryption, _reencryption)
    # An account that is reclaimed loses its factors.
    context.contribute(
        Reclaimer(remove_factors),
        Pruner("second_factors", partial(_prune, context)),
        PathVariable("authenticator_id", "ID of the MFA method."),
        PathVariable("device_id", "ID of the trusted device."),
    )
    _delete_devices(context)
    _reset_limits(context)


def _prune(context: Context) -> int:
    return context.get(Authenticators).prune() + context.get(TrustedDevices).prune()


def _devices(context: Context) -> TrustedDevices:
    auth, notices = context.settings.of(AuthSettings), context.get(FactorNotices)
    return TrustedDevices(
        context.session, notices, context.clock, auth.MFA_TRUST_DAYS, auth.SESSION_ADDRESSES
    )


def _authenticators(context: Context) -> Authenticators:
    return Authenticators(
        context.session,
        context.get(Accounts),
        context.get(RecoveryCodes),
        context.get(TrustedDevices),
        context.get(Requirement),
        context.get(FactorNotices),
        context.clock,
    )


def _limits(context: Context) -> FactorLimits:
    notices, devices = context.get(FactorNotices), context.get(TrustedDevices)
    return FactorLimits(context.get(Failures), notices, devices)


def _tokens(context: Context) -> MfaTokens:
    proofs, accounts = context.get(Proofs), context.get(Accounts)
    ids = context.tables.account_ids
    return MfaTokens(context.session, proofs, accounts, ids, context.keystore)


def _factors(context: Context) -> SecondFactors:
    apps, codes = context.get(AuthenticatorApps), context.get(RecoveryCodes)
    checks: dict[str, FactorCheck] = {TOTP_KIND: apps.check, RECOVERY_CODE: codes.check}
    if context.settings.of(AuthSettings).takes_passkeys:
        checks[PASSKEY] = context.get(PasskeyFeature).check_factor
    failures, limits = context.get(Failures), context.get(FactorLimits)
    return SecondFactors(context.session, failures, limits, context.get(Requirement), checks)


def _feature(context: Context) -> FactorFeature:
    factors, limits = context.get(SecondFactors), context.get(FactorLimits)

    def has_factor(account: AccountLike) -> bool:
        return bool(factors.methods(account.id))

    if context.settings.of(AuthSettings).MFA == "off":
        return FactorFeature(has_factor, None, (), None, limits.reset)
    devices, requirement = context.get(TrustedDevices), context.get(Requirement)
    stage = FactorStage(context.session, factors, devices, context.get(MfaTokens), requirement)
    refusals = (WrongFactor, SecretUnreadable, KeystoreUnavailable)
    step_up = StepUp(step_up_methods(factors), refusals)
    return FactorFeature(has_factor, stage, STAGE_REFUSALS, step_up, limits.reset)


def _enrollment(context: Context) -> AppEnrollment:
    return AppEnrollment(
        context.session,
        context.get(Accounts),
        context.get(AuthenticatorApps),
        context.get(Authenticators),
        context.get(SignInPolicy),
        context.settings.of(BrandSettings).NAME,
        context.clock,
    )


def _second_step(context: Context) -> SecondStep:
    tokens, factors = context.get(MfaTokens), context.get(SecondFactors)
    devices, policy = context.get(TrustedDevices), context.get(SignInPolicy)
    return SecondStep(context.session, tokens, factors, devices, policy)


def _changes(context: Context) -> FactorChanges:
    end_others = None
    if context.settings.of(AuthSettings).keeps_sessions:
        end_others = partial(context.get(SessionManagement).end_all, others=True)
    accounts, authenticators = context.get(Accounts), context.get(Authenticators)
    policy = context.get(SignInPolicy)
    return FactorChanges(context.session, accounts, authenticators, policy, end_others)


def _reencryption(context: Context) -> Reencryption:
    apps, codes = context.get(AuthenticatorApps), context.get(RecoveryCodes)
    return Reencryption(context.session, apps, codes.digests)


def _delete_devices(context: Context) -> None:
    """Delete devices when the email address or the password changes, which ends their trust."""

    def delete(account: AccountLike, _options: object) -> None:
        context.get(TrustedDevices).delete(account.id)

    for signal in (EMAIL_CHANGED, PASSWORD_CHANGED_SIGNAL, PASSWORD_RESET_SIGNAL):
        context.actions.on(signal.name, delete)


def _reset_limits(context: Context) -> None:
    """Reset the limits after the commit: a state store in the database would wait for the open
    transaction."""

    def reset(account: AccountLike, _options: object) -> None:
        limits, account_id = context.get(FactorLimits), account.id
        after_commit(context.session, lambda: limits.reset(account_id))

    def reset_after_recovery(account: AccountLike, _options: object) -> None:
        limits, account_id = context.get(FactorLimits), account.id
        after_commit(context.session, lambda: limits.reset_after_recovery(account_id))

    context.actions.on(PASSWORD_CHANGED_SIGNAL.name, reset)
    context.actions.on(PASSWORD_RESET_SIGNAL.name, reset_after_recovery)
