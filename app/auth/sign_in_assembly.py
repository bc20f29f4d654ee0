"""The services that sign accounts in and out, complete when they are built."""

from datetime import timedelta

from ..accounts.service import Accounts
from ..core.context import Context
from .caller import Callers, CredentialReader
from .features import FactorFeature, LoginCodeFeature, PasskeyFeature, SessionFeature
from .idp.identities import Identities
from .limits import Failures
from .settings import AuthSettings
from .sign_in.password import Login
from .sign_in.policy import SessionUse, SignInPolicy, Stage, active_only
from .sign_in.sign_out import SignOut
from .step_up.service import Freshness, Reauthentication, StepUp, has_no_factor
from .tokens.access import AMR, Revocations, Signer, Tokens
from .tokens.bearer import BearerReader


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


def assemble(context: Context) -> None:
    """Add what finds a caller, signs accounts in and out, and asks them to sign in again."""
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    session, clock = context.session, context.clock
    tokens = make_tokens(context, auth)
    revocations = Revocations(context.keystore, int(tokens.lifetime.total_seconds()))
    stores_sessions = auth.keeps_sessions or auth.keeps_cookies
    stored = context.get(SessionFeature) if stores_sessions else None
    factors = factor_feature(context)
    sessions = stored.sessions if stored and stored.for_every_sign_in else None
    cookie = stored.cookie if stored else None
    # The header first: a request with a token needs no other credential.
    readers: list[CredentialReader] = [BearerReader(accounts, tokens, sessions)]
    context.add(Callers([*readers, cookie.read] if cookie else readers))
    policy = SignInPolicy(
        context.basics,
        accounts,
        tokens,
        revocations,
        sign_in_stages(context),
        refusals=factors.stage_refusals if factors else (),
        session_use=SessionUse(
            sessions, stored.sessions if stored else None, cookie.set if cookie else None
        ),
    )
    context.add(policy)
    context.add(Identities(session, accounts, clock))
    login = Login(session, accounts, accounts.passwords, policy, context.get(Failures))
    context.add(login)
    has_factor = factors.has_factor if factors else has_no_factor
    freshness = Freshness(login, clock, auth.FRESH_MINUTES * 60, has_factor)
    context.add(freshness)
    context.add(
        Reauthentication(
            session,
            accounts,
            login,
            freshness,
            policy,
            step_ups(context),
            renew_session=stored.renew if stored else None,
        )
    )
    # A later sign-in must not restore a session that has ended.
    is_final = auth.LOGOUT_IS_FINAL or auth.keeps_sessions
    context.add(SignOut(session, accounts, revocations, clock, is_final=is_final))


def make_tokens(context: Context, auth: AuthSettings) -> Tokens:
    settings = context.settings
    return Tokens(
        Signer(settings.secret_key, context.app),
        [settings.secret_key, *settings.former_secret_keys],
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
