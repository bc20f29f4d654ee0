from __future__ import annotations

from datetime import timedelta

from ...accounts.service import Accounts
from ...core.context import Context
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.templates import Templates
from ..admission import Admission
from ..errors import InvalidProof
from ..limits import Failures
from ..proofs import Proofs, Purpose
from ..settings import AuthSettings
from ..sign_in.gate import Gate
from ..step_up.service import Reauthentication
from .codes import LOGIN_CODE, LoginCodes
from .limits import LoginCodeRequests
from .mails import LoginCodeMails
from .service import LoginByCode
from .way import by_mailed_code


def assemble(context: Context) -> None:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    life = timedelta(minutes=auth.LOGIN_CODE_EXPIRE_MINUTES)
    purpose = Purpose(LOGIN_CODE, token_life=life, code_life=life)
    codes = LoginCodes(context.keystore, context.get(Proofs), accounts, purpose)
    context.add(codes)
    failures, reauthentication = context.get(Failures), context.get(Reauthentication)
    reauthentication.ways["code"] = by_mailed_code(codes, failures)
    reauthentication.answers.append(InvalidProof)
    context.add(
        LoginByCode(
            context.session,
            accounts,
            codes,
            LoginCodeRequests(context.keystore, auth),
            failures,
            context.get(Admission),
            context.get(Gate),
            LoginCodeMails(context.settings.core, auth, context.get(Templates)),
            context.get(OneOffMail),  # type: ignore[type-abstract]
            lambda: "registration" not in context.schemas,
        )
    )
