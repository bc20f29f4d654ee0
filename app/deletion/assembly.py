from __future__ import annotations

from datetime import timedelta

from ..accounts.service import Accounts
from ..auth.email_change.service import EmailChanges
from ..auth.fresh import Freshness
from ..auth.proofs import Proofs, Purpose
from ..auth.settings import AuthSettings
from ..core.context import Context
from ..delivery.mail.one_off import OneOffMail, Untold
from ..delivery.mail.templates import Templates
from ..delivery.worker.worker import Worker
from ..workspaces.ownership import Ownership
from .due import CHORE, DueDeletions
from .mails import DeletionMails
from .rules import DeletionRules
from .service import Deletion


def assemble(context: Context) -> None:
    """Whoever waits when it is switched off can still be kept, and still goes."""
    if not context.has(Accounts):
        return
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    deletion = Deletion(
        context.session,
        accounts,
        context.account_ids,
        context.get(Freshness),
        DeletionRules(context.session, accounts, context.get(Ownership)),
        context.get(Proofs),
        Purpose("account-restore", token_life=timedelta(days=auth.ACCOUNT_DELETION_DAYS)),
        context.emitter,
        DeletionMails(context.settings.core, auth, context.get(Templates)),
        one_off_mail,
        one_off_mail if auth.SECURITY_MAILS else Untold(),
        context.clock,
    )
    context.add(deletion)
    context.pruners["deleted_accounts"] = deletion.sweep
    # Whoever changed the address may have asked for the end as well.
    context.get(EmailChanges).undoing.append(deletion.keep)
    if auth.ACCOUNT_DELETION == "on" and auth.ACCOUNT_DELETION_DAYS:
        due = DueDeletions(deletion, context.db.engine, context.clock)
        context.get(Worker).chores[CHORE] = due
