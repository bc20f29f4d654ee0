from __future__ import annotations

from datetime import timedelta

from ..accounts.service import Accounts
from ..auth.admission import Admission
from ..auth.limits import RegistrationLimits
from ..auth.proofs import AccountProofs, Proofs, Purpose
from ..auth.settings import AuthSettings
from ..auth.sign_in.gate import Gate
from ..core.config.environment import SettingsError
from ..core.context import Context
from ..delivery.mail.one_off import OneOffMail
from ..delivery.mail.templates import Templates
from ..workspaces.invitations.received import ReceivedInvitations
from .errors import RegistrationClosed
from .mails import RegistrationMails
from .service import Registration
from .verification import VERIFICATION, Verification


def assemble(context: Context) -> None:
    if not context.has(Accounts):
        return
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    limits = RegistrationLimits(context.keystore, auth)
    mails = RegistrationMails(context.settings.core, auth, context.get(Templates))
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    purpose = Purpose(
        VERIFICATION,
        token_life=timedelta(hours=auth.EMAIL_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.EMAIL_CODE_EXPIRE_MINUTES),
    )
    verification = Verification(
        context.session,
        accounts,
        purpose,
        AccountProofs(context.get(Proofs), accounts, context.account_ids),
        limits,
        mails,
        one_off_mail,
        context.emitter,
        context.clock,
    )
    context.add(verification)
    keep_days = auth.UNVERIFIED_KEEP_DAYS
    context.pruners["unverified_accounts"] = lambda: verification.prune(keep_days)
    if auth.REGISTRATION == "closed":
        context.lack(RegistrationClosed, Registration)
        return
    _check(auth, accounts.model)
    context.add(
        Registration(
            context.session,
            accounts,
            accounts.passwords,
            context.get(Admission),
            context.get(ReceivedInvitations),
            verification,
            context.get(Gate),
            limits,
            mails,
            one_off_mail,
            context.emitter,
            context.clock,
            auth,
        )
    )


def _check(auth: AuthSettings, model: type[object]) -> None:
    if auth.REGISTRATION == "domains" and not auth.REGISTRATION_DOMAINS:
        raise SettingsError("AUTH.REGISTRATION is `domains`, so REGISTRATION_DOMAINS must be set.")
    if not hasattr(model, "email_unverified_since"):
        raise SettingsError(
            f"AUTH.REGISTRATION is `{auth.REGISTRATION}`, so {model.__name__} needs a column"
            " email_unverified_since: AccountMixin has it."
        )
