from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from ...accounts.models import AccountLike
from ...accounts.service import EMAIL_CHANGED, Accounts
from ...core.config.environment import SettingsError
from ...core.context import Context
from ...core.db.transaction import after_commit
from ...core.extras import missing_extra
from ...delivery.mail.one_off import OneOffMail, Untold
from ...delivery.mail.templates import Templates
from ..fresh import Freshness
from ..limits import Failures
from ..passwords import PASSWORD_CHANGED
from ..proofs import Proofs
from ..recovery import PASSWORD_RESET
from ..settings import AuthSettings
from ..sign_in.attempt import RECOVERY_CODE
from ..sign_in.gate import Gate
from ..step_up.service import Reauthentication
from .apps import AppEnrolment, AuthenticatorApps
from .authenticators import Authenticators, FactorResets
from .devices import TrustedDevices
from .factors import SecondFactors
from .limits import FactorFailures
from .mfa_tokens import MfaTokens
from .models import TOTP_KIND, Authenticator, RecoveryCode, TrustedDevice
from .notices import FactorMails, FactorNotices
from .policy import Enrollers, FactorFreshness, Requirement
from .recovery_codes import CodeDigests, CodeRenewal, RecoveryCodes
from .reencryption import Reencryption
from .sealing import Sealing
from .sign_in import FactorStage, SecondStep, add_ways

log = logging.getLogger(__name__)

SHORTEST_KEY = 32


def assemble(context: Context) -> None:
    """Also where passkeys alone are switched on: they are authenticators too."""
    for model in (Authenticator, RecoveryCode, TrustedDevice):
        context.bring(model)
    if line := missing_extra("mfa"):
        raise SettingsError(f"AUTH.MFA or AUTH.PASSKEYS is on, and needs an extra: {line}")
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    session, clock, gate = context.session, context.clock, context.get(Gate)
    requirement, keys = Requirement.of(auth), keys_of(context, auth)
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    notices = FactorNotices(
        session,
        FactorMails(context.settings.core, context.get(Templates)),
        one_off_mail if auth.SECURITY_MAILS else Untold(),
    )
    apps = AuthenticatorApps(session, Sealing(keys), clock)
    codes = RecoveryCodes(session, CodeDigests(keys), notices, clock)
    devices = TrustedDevices(session, notices, clock, auth.MFA_TRUST_DAYS, auth.SESSION_ADDRESSES)
    authenticators = Authenticators(session, accounts, codes, devices, requirement, notices, clock)
    wrong = FactorFailures(context.keystore, notices, devices, auth.RATE_LIMITS_ENABLED)
    factors = SecondFactors(
        session,
        context.get(Failures),
        wrong,
        requirement,
        # Passkeys add themselves.
        {TOTP_KIND: apps.check, RECOVERY_CODE: codes.check},
    )
    tokens = MfaTokens(
        session, context.get(Proofs), accounts, context.account_ids, context.keystore
    )
    freshness = FactorFreshness(context.get(Freshness))
    resets = FactorResets(session, accounts, authenticators, codes, devices, notices)
    issuer = context.settings.core.PROJECT_NAME
    for service in (
        factors,
        authenticators,
        codes,
        devices,
        tokens,
        notices,
        freshness,
        resets,
        CodeRenewal(session, accounts, factors, codes, notices),
        Enrollers(accounts, tokens, freshness),
        AppEnrolment(session, accounts, apps, authenticators, gate, issuer, clock),
        SecondStep(session, tokens, factors, devices, gate),
        Reencryption(session, apps, codes.digests),
    ):
        context.add(service)
    context.pruners["second_factors"] = lambda: authenticators.prune() + devices.prune()
    accounts.reclaiming.append(resets.reclaim)
    context.get(Freshness).has_factor = lambda account: bool(factors.methods(account.id))
    if auth.MFA != "off":
        add_ways(context.get(Reauthentication), factors)
        gate.stages.append(FactorStage(session, factors, devices, tokens, requirement))
        gate.answers.extend(FactorStage.answers)
    _forget_devices(context, devices)
    _forgive_wrong_factors(context, wrong)


def keys_of(context: Context, auth: AuthSettings) -> Sequence[str]:
    """The first encrypts: one of the settings, or else the application's own secret. That and its
    former decrypt in any case, so that keys which are set later lock nobody out."""
    settings = context.settings
    keys = [key.get_secret_value() for key in auth.ENCRYPTION_KEYS]
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise SettingsError(
            f"AUTH.ENCRYPTION_KEYS has a key of less than {SHORTEST_KEY} characters: make one"
            " with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    if not keys and not settings.secret_key_is_set:
        log.warning(
            "Neither AUTH.ENCRYPTION_KEYS nor SECRET_KEY is set: second factors that are set up now"
            " cannot be used after this process."
        )
    fallbacks = settings.core.SECRET_KEY_FALLBACKS
    return [*keys, settings.secret_key, *(key.get_secret_value() for key in fallbacks)]


def _forget_devices(context: Context, devices: TrustedDevices) -> None:
    """They are not known any more after these, and need not be listed either."""

    def forget(account: AccountLike, _options: object) -> None:
        devices.forget(account.id)

    for event in (EMAIL_CHANGED, PASSWORD_CHANGED, PASSWORD_RESET):
        context.emitter.on(event, forget)


def _forgive_wrong_factors(context: Context, wrong: FactorFailures) -> None:
    """After the commit: a state store in the database must not wait for our own write."""

    def after(forgive: Callable[[Any], None]) -> Callable[[AccountLike, object], None]:
        def listener(account: AccountLike, _options: object) -> None:
            account_id = account.id
            after_commit(context.session, lambda: forgive(account_id))

        return listener

    context.emitter.on(PASSWORD_CHANGED, after(wrong.forgive))
    context.emitter.on(PASSWORD_RESET, after(wrong.forgive_after_reset))
    context.get(Failures).unlocking.append(wrong.forgive)
