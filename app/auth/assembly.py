"""The services of authentication, put together for one application."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from ..accounts.service import Accounts
from ..core.config.environment import SettingsError
from ..core.config.settings import reveal
from ..core.context import Context
from ..core.extras import missing_extra
from ..delivery.mail.one_off import OneOffMail
from ..delivery.mail.templates import Templates
from .admission import Admission
from .caller import Callers
from .errors import IdpDisabled
from .idp.identities import Identities
from .idp.redirects import RedirectUris
from .idp.service import IdpSignIn, Provider
from .limits import Failures, RecoveryRequests
from .mails import Mails
from .passwords import PasswordChange
from .proofs import AccountProofs, Proofs, Purpose
from .recovery.service import RECOVERY, Recovery
from .settings import AuthSettings
from .sign_in.gate import Gate, active_only
from .sign_in.log_out import LogOut
from .sign_in.password import Login
from .tokens.access import Tokens
from .tokens.bearer import BearerReader
from .tokens.revocation import Revocations
from .tokens.signing import Signer


def assemble(context: Context) -> None:
    if not context.has(Accounts):
        return
    accounts = context.get(Accounts)
    settings, core = context.settings, context.settings.core
    auth = settings.of(AuthSettings)
    fallbacks = [key.get_secret_value() for key in core.SECRET_KEY_FALLBACKS]
    lifetime = timedelta(minutes=auth.ACCESS_TOKEN_EXPIRE_MINUTES)
    signer = Signer(settings.secret_key, context.app)
    tokens = Tokens(
        signer,
        settings.secret_key,
        fallbacks,
        lifetime,
        context.clock,
        auth.AUDIENCE,
        auth.ISSUER,
    )
    revocations = Revocations(context.keystore, int(lifetime.total_seconds()))
    context.add(Callers([BearerReader(accounts, tokens, revocations)]))
    gate = Gate(
        context.session,
        tokens,
        revocations,
        context.emitter,
        context.hooks,
        context.clock,
        stages=[active_only(accounts)],
    )
    context.add(gate)
    context.add(Identities(context.session, accounts, context.clock))
    failures = Failures(context.keystore, auth)
    context.add(failures)
    context.add(Login(context.session, accounts, accounts.passwords, gate, failures))
    context.add(
        LogOut(
            context.session,
            accounts,
            revocations,
            context.emitter,
            context.clock,
            is_final=auth.LOGOUT_IS_FINAL,
        )
    )
    context.add(Admission(context.session, context.hooks, auth))
    proofs = Proofs(settings.secret_key, fallbacks, context.keystore, context.clock)
    context.add(proofs)
    recovery = Purpose(
        RECOVERY,
        token_life=timedelta(hours=auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.RESET_CODE_EXPIRE_MINUTES),
    )
    context.add(Mails(core, auth, context.get(Templates)))
    context.add(
        Recovery(
            context.session,
            accounts,
            accounts.passwords,
            recovery,
            AccountProofs(proofs, accounts, context.account_ids),
            RecoveryRequests(context.keystore, auth),
            failures,
            context.emitter,
            lambda **mail: context.hooks.recovery_mail(**mail),
            context.get(Mails),
            context.get(OneOffMail),  # type: ignore[type-abstract]
            context.clock,
            auth.HIDE_ACCOUNTS,
        )
    )
    context.add(
        PasswordChange(
            context.session,
            accounts,
            accounts.passwords,
            context.get(Login),
            gate,
            context.emitter,
            context.get(Mails),
            context.get(OneOffMail),  # type: ignore[type-abstract]
            context.clock,
        )
    )
    if auth.ENABLE_IDP_OAUTH:
        _assemble_idp(context, accounts, gate)
    else:
        context.lack(IdpDisabled, IdpSignIn)


def _assemble_idp(context: Context, accounts: Accounts, gate: Gate) -> None:
    core, auth = context.settings.core, context.settings.of(AuthSettings)
    for name in ("IDP_METADATA_URL", "IDP_OAUTH_CLIENT_ID"):
        if not getattr(auth, name):
            raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, so {name} must be set.")
    if line := missing_extra("idp"):
        raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, and needs an extra: {line}")

    @cache
    def open_provider() -> Provider:
        from .idp.oidc import OpenIdProvider

        return OpenIdProvider(
            auth.IDP_METADATA_URL,
            auth.IDP_OAUTH_CLIENT_ID,
            reveal(auth.IDP_OAUTH_CLIENT_SECRET),
            pkce=auth.IDP_REQUIRE_SESSION,
        )

    context.add(
        RedirectUris(auth.IDP_REDIRECT_URI, core.CLIENT_HOST, auth.IDP_ALLOWED_REDIRECT_URIS)
    )
    context.add(
        IdpSignIn(
            context.session,
            open_provider,
            accounts,
            context.get(Identities),
            gate,
            context.emitter,
            context.get(Mails),
            context.get(OneOffMail),  # type: ignore[type-abstract]
            context.get(Admission),
            needs_session=auth.IDP_REQUIRE_SESSION,
        )
    )
