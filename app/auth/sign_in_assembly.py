"""The services that sign accounts in and out, complete when they are built."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from ..accounts.service import Accounts
from ..core.config.environment import SettingsError
from ..core.context import Context
from ..core.extras import missing_extra
from ..core.process.servers import is_command
from ..core.types import AccountKey
from ..core.web.operation import AuthScheme
from .caller import APPLICATION, Callers, CredentialReader
from .cross_site import CrossSite, CrossSiteCheck, allowed_origins
from .features import FactorFeature, LoginCodeFeature, PasskeyFeature, SessionFeature, TokenFeature
from .idp.identities import Identities, UnlinkEffect
from .idp.models import Identity
from .limits import Failures
from .settings import AuthSettings
from .sign_in.password import Login
from .sign_in.policy import SessionUse, SignInPolicy, Stage, active_only
from .sign_in.sign_out import SignOut
from .step_up.service import Freshness, Reauthentication, StepUp, has_no_factor
from .tokens.access import AMR, Revocations, Signer, Tokens
from .tokens.bearer import BearerReader

if TYPE_CHECKING:
    # Loaded only where signing keys are set.
    from .tokens.signing_keys import SigningKeys


def factor_feature(context: Context) -> FactorFeature | None:
    """Return the feature if the settings enable it; raise SetupError if it is then missing."""
    is_on = context.settings.of(AuthSettings).keeps_authenticators
    return context.get(FactorFeature) if is_on else None


def sign_in_stages(context: Context) -> tuple[Stage, ...]:
    """Return what every sign-in passes after its proof, in order."""
    factors = factor_feature(context)
    return (
        active_only(context.get(Accounts)),
        *((factors.stage,) if factors and factors.stage else ()),
        # Stages of the application run last.
        *context.parts["sign_in_stages"],
    )


def step_ups(context: Context) -> StepUp:
    """Return the re-authentication methods besides the password."""
    auth, factors = context.settings.of(AuthSettings), factor_feature(context)
    step_ups = [
        factors.step_up if factors else None,
        context.get(PasskeyFeature).step_up if auth.takes_passkeys else None,
        context.get(LoginCodeFeature).step_up if auth.LOGIN_BY_CODE == "on" else None,
    ]
    switched_on = [each for each in step_ups if each is not None]
    return StepUp(
        {name: method for each in switched_on for name, method in each.methods.items()},
        tuple(refusal for each in switched_on for refusal in each.refusals),
    )


def session_feature(context: Context) -> SessionFeature | None:
    """Return the feature if the settings enable it; raise SetupError if it is then missing."""
    is_on = context.settings.of(AuthSettings).stores_sessions
    return context.get(SessionFeature) if is_on else None


def token_feature(context: Context) -> TokenFeature | None:
    """Return the feature if the settings enable it; raise SetupError if it is then missing."""
    is_on = context.settings.of(AuthSettings).PERSONAL_TOKENS == "on"
    return context.get(TokenFeature) if is_on else None


def assemble(context: Context) -> None:
    """Add what finds a caller, signs accounts in and out, and asks them to sign in again."""
    keys = _signing_keys(context)
    context.provide(Tokens, lambda known: _tokens(known, keys))
    context.provide(Revocations, _revocations)
    context.provide(Callers, _callers)
    context.provide(SignInPolicy, _policy)
    context.provide(Identities, _identities)
    context.provide(Login, _login)
    context.provide(Freshness, _freshness)
    context.provide(Reauthentication, _reauthentication)
    context.provide(SignOut, _sign_out)


def _revocations(context: Context) -> Revocations:
    lifetime = context.get(Tokens).lifetime
    return Revocations(context.keystore, int(lifetime.total_seconds()))


def _callers(context: Context) -> Callers:
    stored = session_feature(context)
    sessions = stored.sessions if stored and stored.for_every_sign_in else None
    programs, own = token_feature(context), _application_reader(context)
    # The header first: a request with a token needs no other credential.
    readers: list[CredentialReader] = [
        BearerReader(
            context.get(Accounts),
            context.get(Tokens),
            sessions,
            programs.read if programs else None,
            only_bearer=own is not None,
        ),
        *([own] if own else []),
        *([stored.cookie.read] if stored and stored.cookie else []),
    ]
    return Callers(readers)


def _application_reader(context: Context) -> CredentialReader | None:
    """Return the reader of the application's credential, or None without the hook."""
    if not context.hooks.registered("authenticate"):
        return None
    # Imported here, because few applications have the hook.
    from .application_credential import ApplicationReader

    # The application's credential does not describe itself to the OpenAPI document.
    context.contribute(AuthScheme(APPLICATION, None, (CrossSite,)))
    return ApplicationReader(
        context.get(Accounts),
        context.tables.account_ids,
        context.hooks.authenticate,
        CrossSiteCheck(allowed_origins(context.settings.core)),
    )


def _policy(context: Context) -> SignInPolicy:
    stored, factors = session_feature(context), factor_feature(context)
    link_session = None
    if stored is not None and context.settings.of(AuthSettings).has_providers:
        # Imported here, because few applications have identity providers.
        from .idp.provider_sessions import ProviderSessions

        link_session = context.get(ProviderSessions).link_session
    return SignInPolicy(
        context.basics,
        context.get(Accounts),
        context.get(Tokens),
        context.get(Revocations),
        sign_in_stages(context),
        refusals=factors.stage_refusals if factors else (),
        session_use=SessionUse(
            stored.sessions if stored and stored.for_every_sign_in else None,
            stored.sessions if stored else None,
            stored.cookie.set if stored and stored.cookie else None,
            context.get(Failures).trust,
            link_session,
        ),
    )


def _identities(context: Context) -> Identities:
    return Identities(
        context.session,
        context.get(Accounts),
        context.clock,
        partial(_is_usable, context),
        partial(_has_other_method, context),
        context.contributions(UnlinkEffect),
    )


def _is_usable(context: Context, identity: Identity) -> bool:
    if not context.settings.of(AuthSettings).has_providers:
        return False
    # Loaded only if identity providers are configured.
    from .idp.providers import Providers

    providers = context.get(Providers).values()
    return any(provider.is_issuer(identity.issuer) for provider in providers)


def _has_other_method(context: Context, account_id: AccountKey) -> bool:
    """Return whether an account can sign in with a code by email, or with a passkey."""
    auth = context.settings.of(AuthSettings)
    if auth.LOGIN_BY_CODE == "on" or auth.PASSKEYS == "off":
        return auth.LOGIN_BY_CODE == "on"
    # Loaded only if passkeys are enabled.
    from .mfa.models import PASSKEY_KIND, Authenticator

    passkeys = select(Authenticator.id).where(
        Authenticator.account_id == account_id,
        Authenticator.kind == PASSKEY_KIND,
        Authenticator.confirmed_at.is_not(None),
    )
    return context.session.scalar(passkeys.limit(1)) is not None


def _login(context: Context) -> Login:
    accounts, policy = context.get(Accounts), context.get(SignInPolicy)
    return Login(context.session, accounts, accounts.passwords, policy, context.get(Failures))


def _freshness(context: Context) -> Freshness:
    seconds = context.settings.of(AuthSettings).FRESH_MINUTES * 60
    factors = factor_feature(context)
    has_factor = factors.has_factor if factors else has_no_factor
    return Freshness(context.get(Login), context.clock, seconds, has_factor)


def _reauthentication(context: Context) -> Reauthentication:
    stored = session_feature(context)
    return Reauthentication(
        context.session,
        context.get(Accounts),
        context.get(Login),
        context.get(Freshness),
        context.get(SignInPolicy),
        step_ups(context),
        renew_session=stored.renew if stored else None,
    )


def _sign_out(context: Context) -> SignOut:
    auth, accounts = context.settings.of(AuthSettings), context.get(Accounts)
    # A later sign-in must not restore a session that has ended.
    is_final = auth.LOGOUT_IS_FINAL or auth.keeps_sessions
    revocations = context.get(Revocations)
    return SignOut(context.session, accounts, revocations, context.clock, is_final=is_final)


def _signing_keys(context: Context) -> SigningKeys | None:
    """Return the keys if they are set; raise SettingsError if a server could not use them.

    Commands read the keys when they need them, because one of them creates the file.
    """
    source = context.settings.of(AuthSettings).SIGNING_KEYS.get_secret_value()
    if not source:
        return None
    if line := missing_extra("keys"):
        raise SettingsError(f"AUTH.SIGNING_KEYS is set, and needs an extra: {line}")
    from .tokens.signing_keys import SigningKeys

    keys = SigningKeys(source, Path(context.app.instance_path))
    if not is_command():
        keys.all()
    context.add(keys)
    return keys


def _tokens(context: Context, keys: SigningKeys | None) -> Tokens:
    settings, auth = context.settings, context.settings.of(AuthSettings)
    accepts_secrets = keys is None or auth.ACCEPT_HS256
    return Tokens(
        Signer(settings.secret_key, context.app, keys),
        [settings.secret_key, *settings.former_secret_keys] if accepts_secrets else [],
        timedelta(minutes=auth.ACCESS_TOKEN_EXPIRE_MINUTES),
        context.clock,
        auth.AUDIENCE,
        auth.ISSUER,
        _protected_claims(auth),
    )


def _protected_claims(auth: AuthSettings) -> frozenset[str]:
    """Return the claims about a sign-in, which no hook of an application can set."""
    if auth.keeps_sessions:
        return frozenset((AMR, "auth_time", "sid"))
    return frozenset((AMR,)) if auth.keeps_authenticators else frozenset()
