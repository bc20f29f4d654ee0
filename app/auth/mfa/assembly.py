import logging
from collections.abc import Callable, Sequence

from ...accounts.actions import EMAIL_CHANGED
from ...accounts.models import AccountLike
from ...accounts.service import Accounts, Reclaimer
from ...core.config.environment import SettingsError
from ...core.context import Context, DoctorChecks, Pruner
from ...core.db.transaction import after_commit
from ...core.extras import missing_extra
from ...core.keystore import KeystoreUnavailable
from ...core.types import AccountKey
from ...core.web.operation import PathVariable
from ...delivery.mail.brand import BrandSettings
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ..actions import PASSWORD_CHANGED_SIGNAL, PASSWORD_RESET_SIGNAL
from ..features import FactorFeature, PasskeyFeature
from ..limits import Failures
from ..proof_names import PASSKEY, RECOVERY_CODE
from ..proofs import Proofs
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from ..step_up.service import StepUp
from .app_codes import AuthenticatorApps
from .apps import AppEnrollment
from .authenticators import Authenticators, remove_factors
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
from .sealing import Sealing
from .sign_in import STAGE_REFUSALS, FactorStage, SecondStep, step_up_methods

log = logging.getLogger(__name__)

SHORTEST_KEY = 32


def assemble_tables(context: Context) -> None:
    """Add the tables before the accounts: an account that is reclaimed loses its factors.

    Also used if only passkeys are enabled: passkeys are authenticators too.
    """
    if line := missing_extra("mfa"):
        raise SettingsError(f"AUTH.MFA or AUTH.PASSKEYS is on, and needs an extra: {line}")
    for model in (Authenticator, RecoveryCode, TrustedDevice):
        context.tables.add(model)
    context.contribute(Reclaimer(remove_factors))


def assemble_authenticators(context: Context) -> None:
    """Add what stores authenticators, recovery codes and trusted devices."""
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    session, clock = context.session, context.clock
    requirement, keys = Requirement.of(auth), encryption_keys(context, auth)
    notices = FactorNotices(session, context.get(Templates), context.get(OwnerMail))
    codes = RecoveryCodes(session, CodeDigests(keys), notices, clock)
    devices = TrustedDevices(session, notices, clock, auth.MFA_TRUST_DAYS, auth.SESSION_ADDRESSES)
    authenticators = Authenticators(session, accounts, codes, devices, requirement, notices, clock)
    for service in (
        requirement,
        notices,
        codes,
        devices,
        authenticators,
        AuthenticatorApps(session, Sealing(keys), clock),
        FactorLimits(context.keystore, notices, devices, auth.RATE_LIMITS_ENABLED),
        MfaTokens(
            session, context.get(Proofs), accounts, context.tables.account_ids, context.keystore
        ),
    ):
        context.add(service)
    context.contribute(
        DoctorChecks(f"{__package__}.doctor"),
        Pruner("second_factors", lambda: authenticators.prune() + devices.prune()),
        PathVariable("authenticator_id", "ID of the MFA method."),
        PathVariable("device_id", "ID of the trusted device."),
    )
    _delete_devices(context, devices)


def assemble_second_factors(context: Context) -> None:
    """Add the checks of second factors, after the features that provide second factors."""
    apps, codes = context.get(AuthenticatorApps), context.get(RecoveryCodes)
    checks: dict[str, FactorCheck] = {TOTP_KIND: apps.check, RECOVERY_CODE: codes.check}
    if context.settings.of(AuthSettings).takes_passkeys:
        checks[PASSKEY] = context.get(PasskeyFeature).check_factor
    requirement, devices = context.get(Requirement), context.get(TrustedDevices)
    limits, session = context.get(FactorLimits), context.session
    factors = SecondFactors(session, context.get(Failures), limits, requirement, checks)
    stage, step_up = None, None
    if context.settings.of(AuthSettings).MFA != "off":
        stage = FactorStage(session, factors, devices, context.get(MfaTokens), requirement)
        step_up = StepUp(
            step_up_methods(factors), (WrongFactor, SecretUnreadable, KeystoreUnavailable)
        )

    def has_factor(account: AccountLike) -> bool:
        return bool(factors.methods(account.id))

    context.add(factors)
    context.add(
        FactorFeature(has_factor, stage, STAGE_REFUSALS if stage else (), step_up, limits.reset)
    )
    _reset_limits(context, limits)


def assemble(context: Context) -> None:
    """Add what sets up factors and finishes sign-ins with them."""
    session, policy, apps = (
        context.session,
        context.get(SignInPolicy),
        context.get(AuthenticatorApps),
    )
    context.add(
        AppEnrollment(
            session,
            context.get(Accounts),
            apps,
            context.get(Authenticators),
            policy,
            context.settings.of(BrandSettings).NAME,
            context.clock,
        )
    )
    tokens, factors = context.get(MfaTokens), context.get(SecondFactors)
    context.add(SecondStep(session, tokens, factors, context.get(TrustedDevices), policy))
    context.add(Reencryption(session, apps, context.get(RecoveryCodes).digests))


def encryption_keys(context: Context, auth: AuthSettings) -> Sequence[str]:
    """Return the keys of secrets; the first encrypts, all decrypt.

    The application's secret key and its fallbacks are always among them: secrets stay readable when
    an operator sets AUTH.ENCRYPTION_KEYS later.
    """
    settings = context.settings
    keys = [key.get_secret_value() for key in auth.ENCRYPTION_KEYS]
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise SettingsError(
            f"AUTH.ENCRYPTION_KEYS has a key of less than {SHORTEST_KEY} characters: create a key"
            " with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    if not keys and not settings.secret_key_is_set:
        log.warning(
            "Neither AUTH.ENCRYPTION_KEYS nor SECRET_KEY is set: second factors that are set up now"
            " cannot be used after a restart."
        )
    return [*keys, settings.secret_key, *settings.former_secret_keys]


def _delete_devices(context: Context, devices: TrustedDevices) -> None:
    """Delete devices when the email address or the password changes, which ends their trust."""

    def delete(account: AccountLike, _options: object) -> None:
        devices.delete(account.id)

    for signal in (EMAIL_CHANGED, PASSWORD_CHANGED_SIGNAL, PASSWORD_RESET_SIGNAL):
        context.actions.on(signal.name, delete)


def _reset_limits(context: Context, limits: FactorLimits) -> None:
    """Reset the limits after the commit: a state store in the database would wait for the open
    transaction."""

    def after(reset: Callable[[AccountKey], None]) -> Callable[[AccountLike, object], None]:
        def listener(account: AccountLike, _options: object) -> None:
            account_id = account.id
            after_commit(context.session, lambda: reset(account_id))

        return listener

    context.actions.on(PASSWORD_CHANGED_SIGNAL.name, after(limits.reset))
    context.actions.on(PASSWORD_RESET_SIGNAL.name, after(limits.reset_after_recovery))
