from __future__ import annotations

from ...accounts.service import Accounts
from ...core.config.environment import SettingsError
from ...core.context import Context
from ...core.extras import missing_extra
from ...delivery.mail.one_off import OneOffMail, Untold
from ...delivery.mail.templates import Templates
from ..fresh import Freshness
from ..settings import AuthSettings
from ..sign_in.gate import Gate
from .challenges import Challenges
from .mails import PasskeyMails
from .registration import PasskeyRegistration
from .relying_party import RelyingParty
from .rows import Passkeys
from .showing import PasskeyProofs
from .sign_in import PasskeyLogin


def assemble(context: Context) -> None:
    """After the room of second factors, whose table holds the passkeys too."""
    if line := missing_extra("mfa"):
        raise SettingsError(f"AUTH.PASSKEYS or AUTH.MFA is on, and needs an extra: {line}")
    settings = context.settings
    core, auth = settings.core, settings.of(AuthSettings)
    keys = [settings.secret_key, *(key.get_secret_value() for key in core.SECRET_KEY_FALLBACKS)]
    party = RelyingParty.of(core, auth)
    context.add(party)
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    shared = (
        context.session,
        context.get(Accounts),
        Passkeys(context.session),
        Challenges(keys, context.keystore, context.clock),
        party,
        PasskeyMails(core, context.get(Templates)),
        one_off_mail if auth.SECURITY_MAILS else Untold(),
        context.clock,
    )
    context.add(PasskeyRegistration(*shared, context.get(Freshness), auth.MFA != "off"))
    proofs = PasskeyProofs(*shared)
    context.add(proofs)
    context.add(PasskeyLogin(context.session, proofs, context.get(Gate)))
