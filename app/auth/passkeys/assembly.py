from ...accounts.service import Accounts
from ...core.context import Context
from ...delivery.mail.brand import BrandSettings
from ..errors import PasskeyRefused
from ..features import PasskeyFeature
from ..mfa.authenticators import Authenticators
from ..mfa.mfa_tokens import MfaTokens
from ..mfa.notices import FactorNotices
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from ..step_up.service import StepUp
from ..webauthn.relying_party import RelyingParty
from .challenges import Challenges
from .registration import PasskeyRegistration
from .rows import Passkeys
from .sign_in import PasskeyLogin, PasskeyProofs, step_up_by_passkey


def assemble(context: Context) -> None:
    settings = context.settings
    keys = [settings.secret_key, *settings.former_secret_keys]
    brand, auth = settings.of(BrandSettings), settings.of(AuthSettings)
    context.add(RelyingParty.of(brand.NAME, settings.core, auth))
    context.add(Passkeys(context.session))
    context.add(Challenges(keys, context.keystore, context.clock))
    context.provide(PasskeyProofs, _proofs)
    context.provide(PasskeyFeature, _feature)
    context.provide(PasskeyRegistration, _registration)
    context.provide(PasskeyLogin, _login)


def _proofs(context: Context) -> PasskeyProofs:
    return PasskeyProofs(
        context.session,
        context.get(Accounts),
        context.get(Passkeys),
        context.get(Challenges),
        context.get(RelyingParty),
        context.get(FactorNotices),
        context.clock,
    )


def _feature(context: Context) -> PasskeyFeature:
    proofs = context.get(PasskeyProofs)
    step_up = StepUp({"credential": step_up_by_passkey(proofs)}, (PasskeyRefused,))
    return PasskeyFeature(proofs.check_factor, step_up)


def _registration(context: Context) -> PasskeyRegistration:
    return PasskeyRegistration(
        context.basics,
        context.get(Accounts),
        context.get(Passkeys),
        context.get(Authenticators),
        context.get(Challenges),
        context.get(RelyingParty),
        context.get(SignInPolicy),
    )


def _login(context: Context) -> PasskeyLogin:
    proofs, tokens = context.get(PasskeyProofs), context.get(MfaTokens)
    return PasskeyLogin(context.session, proofs, tokens, context.get(SignInPolicy))
