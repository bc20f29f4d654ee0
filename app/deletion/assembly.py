"""Adds account deletion, which the worker that sends emails carries out after the grace period."""

from datetime import timedelta
from functools import partial

from sqlalchemy import func, select

from ..accounts.service import Accounts
from ..auth.email_change.undo import EmailUndoStep
from ..auth.proofs import Proofs, Purpose
from ..auth.settings import AuthSettings
from ..auth.step_up.service import Freshness
from ..core.context import Context, Pruner
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.worker import BackgroundTask, BackgroundWork
from ..workspaces.ownership import Ownership
from .models import AccountDeletion
from .service import Deletion, DeletionMails, RestoreProofs

# The worker's name of the task. The name of a channel has no space.
DELETE_ACCOUNTS = "frontdesk deletions"


def assemble(context: Context) -> None:
    """Add account deletion, also if it is off: earlier requests are still carried out or undone."""
    auth = context.settings.of(AuthSettings)
    context.provide(Deletion, _deletion)
    context.contribute(
        Pruner("deleted_accounts", lambda: context.get(Deletion).delete_due()),
        # The person who changed the address may also have requested the deletion.
        EmailUndoStep(lambda account: context.get(Deletion).cancel(account)),
    )
    if auth.ACCOUNT_DELETION == "on" and auth.ACCOUNT_DELETION_DAYS:
        context.contribute(BackgroundWork(DELETE_ACCOUNTS, partial(_due_deletions, context)))


def _due_deletions(context: Context) -> BackgroundTask:
    # Imported here, because few services let users delete their accounts.
    from ..delivery.worker.worker import DueRows

    first = select(func.min(AccountDeletion.deletes_at))
    return DueRows(first, context.get(Deletion).delete_due, context.engine, context.clock)


def _deletion(context: Context) -> Deletion:
    auth = context.settings.of(AuthSettings)
    purpose = Purpose("account-restore", token_life=timedelta(days=auth.ACCOUNT_DELETION_DAYS))
    return Deletion(
        context.basics,
        context.get(Accounts),
        context.get(Freshness),
        context.get(Ownership),
        RestoreProofs(context.get(Proofs), purpose, context.tables.account_ids),
        DeletionMails(auth, context.get(Templates)),
        context.get(OwnerMail),
    )
