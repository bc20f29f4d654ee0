from __future__ import annotations

from datetime import timedelta

from ...accounts.service import Accounts
from ...core.context import Context
from ..settings import AuthSettings
from .models import AccountSession
from .reading import SessionRows
from .service import Sessions


def assemble(context: Context) -> Sessions:
    context.bring(AccountSession)
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    rows = SessionRows(accounts.rows, accounts.model, idle=timedelta(days=auth.SESSION_IDLE_DAYS))
    sessions = Sessions(context.session, rows, context.clock, auth)
    context.add(sessions)
    return sessions
