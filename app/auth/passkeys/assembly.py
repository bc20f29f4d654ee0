from ...accounts.service import Accounts
from ...core.context import Context, DoctorChecks
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


def assemble_proofs(context: Context) -> None:
    """Add what verifies passkeys, before the services that sign in."""
    settings, session = context.settings, context.session
    core, accounts = settings.core, context.get(Accounts)
    keys = [settings.secret_key, *settings.former_secret_keys]
    party = RelyingParty.of(settings.of(BrandSettings).NAME, core, settings.of(AuthSettings))
    passkeys = Passkeys(session)
    challenges = Challenges(keys, context.keystore, context.clock)
    notices = context.get(FactorNotices)
    proofs = PasskeyProofs(session, accounts, passkeys, challenges, party, notices, context.clock)
    context.contribute(DoctorChecks(f"{__package__}.doctor"))
    for service in (party, passkeys, challenges, proofs):
        context.add(service)
    step_up = StepUp({"credential": step_up_by_passkey(proofs)}, (PasskeyRefused,))
    context.add(PasskeyFeature(proofs.check_factor, step_up))


def assemble(context: Context) -> None:
    """Add what registers passkeys and signs in with them."""
    session, accounts, policy = context.session, context.get(Accounts), context.get(SignInPolicy)
    registration = PasskeyRegistration(
        context.basics,
        accounts,
        context.get(Passkeys),
        context.get(Authenticators),
        context.get(Challenges),
        context.get(RelyingParty),
        policy,
    )
    context.add(registration)
    context.add(PasskeyLogin(session, context.get(PasskeyProofs), context.get(MfaTokens), policy))
