from __future__ import annotations

from ...accounts.service import Accounts
from ...core.context import Context
from ...delivery.mail.one_off import OneOffMail, Untold
from ...delivery.mail.templates import Templates
from ..settings import AuthSettings
from ..sign_in.gate import Gate
from .errors import UnsupportedGrant
from .mails import SessionMails
from .models import AccountSession
from .own import OwnSessions
from .reading import SessionRows
from .refresh import Refresh
from .refresh_token import RefreshTokens
from .service import Sessions


def assemble(context: Context) -> Sessions:
    """What the gate and the readers of credentials need."""
    context.bring(AccountSession)
    # A token must not come back to life with the status; a session has no other end then.
    context.get(Accounts).ends_tokens_of_inactive = True
    return make_sessions(context)


def make_sessions(context: Context) -> Sessions:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    rows = SessionRows(accounts.rows, accounts.model, auth.session_limits)
    fallbacks = [key.get_secret_value() for key in context.settings.core.SECRET_KEY_FALLBACKS]
    refresh_tokens = RefreshTokens(context.settings.secret_key, fallbacks)
    sessions = Sessions(context.session, rows, context.clock, auth, refresh_tokens)
    context.add(sessions)
    return sessions


def furnish(context: Context) -> None:
    """What its routes and commands need; most of that stands behind the gate."""
    auth = context.settings.of(AuthSettings)
    context.add(OwnSessions(context.session, context.clock, auth.session_limits))
    if not auth.REFRESH_TOKEN_DAYS:
        context.lack(UnsupportedGrant, Refresh)
        return
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    context.add(
        Refresh(
            context.session,
            context.get(Accounts),
            context.get(Gate),
            context.get(Sessions).refresh_tokens,
            SessionMails(context.settings.core, context.get(Templates)),
            one_off_mail if auth.SECURITY_MAILS else Untold(),
            context.clock,
            auth,
        )
    )
