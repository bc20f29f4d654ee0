from __future__ import annotations

from ...accounts.service import Accounts
from ...core.context import Context
from ..errors import PasskeyRefused
from ..mfa.authenticators import Authenticators
from ..mfa.factors import SecondFactors
from ..mfa.mfa_tokens import MfaTokens
from ..mfa.notices import FactorNotices
from ..settings import AuthSettings
from ..sign_in.attempt import PASSKEY
from ..sign_in.gate import Gate
from ..step_up.service import Reauthentication
from .challenges import Challenges
from .registration import PasskeyRegistration
from .relying_party import RelyingParty
from .rows import Passkeys
from .sign_in import PasskeyLogin, PasskeyProofs, by_passkey


def assemble(context: Context) -> None:
    """After the room of second factors, whose table holds the passkeys too."""
    settings, session = context.settings, context.session
    core, accounts, gate = settings.core, context.get(Accounts), context.get(Gate)
    keys = [settings.secret_key, *(key.get_secret_value() for key in core.SECRET_KEY_FALLBACKS)]
    party = RelyingParty.of(core, settings.of(AuthSettings))
    passkeys = Passkeys(session)
    challenges = Challenges(keys, context.keystore, context.clock)
    proofs = PasskeyProofs(
        session,
        accounts,
        passkeys,
        challenges,
        party,
        context.get(FactorNotices),
        context.clock,
    )
    registration = PasskeyRegistration(
        session,
        accounts,
        passkeys,
        context.get(Authenticators),
        challenges,
        party,
        gate,
        context.clock,
    )
    login = PasskeyLogin(session, proofs, context.get(MfaTokens), gate)
    for service in (party, proofs, registration, login):
        context.add(service)
    context.get(SecondFactors).factors[PASSKEY] = proofs.as_factor
    reauthentication = context.get(Reauthentication)
    reauthentication.ways["credential"] = by_passkey(proofs)
    reauthentication.answers.append(PasskeyRefused)
