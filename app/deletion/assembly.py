"""Adds account deletion, which the worker that sends emails carries out after the grace period."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Engine, func, select

from ..accounts.service import Accounts
from ..auth.email_change.undo import EmailUndoStep
from ..auth.proofs import Proofs, Purpose
from ..auth.settings import AuthSettings
from ..auth.step_up.service import Freshness
from ..core.clock import Clock
from ..core.context import Context, Pruner
from ..core.db.base import autocommit_engine
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.worker import BackgroundWork
from ..workspaces.ownership import Ownership
from .models import AccountDeletion
from .service import Deletion, DeletionMails, RestoreProofs

# The worker's name of the task. The name of a channel has no space.
DELETE_ACCOUNTS = "frontdesk deletions"
# How often the worker looks for due deletions, and retries one that failed.
PAUSE_SECONDS = 60.0


@dataclass(eq=False)
class DueDeletions:
    """A task of the worker: deletes accounts after their grace period."""

    deletion: Deletion
    engine: Engine
    clock: Clock
    _next_at: datetime | None = field(default=None, init=False)

    def seconds_until_due(self) -> float | None:
        first = select(func.min(AccountDeletion.deletes_at))
        with autocommit_engine(self.engine).connect() as connection:
            due = connection.execute(first).scalar()
        return None if due is None else (due - self.clock.now()).total_seconds()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        now = self.clock.now()
        if self._next_at is None or self._next_at <= now:
            self._next_at = now + timedelta(seconds=PAUSE_SECONDS)
            wait = self.seconds_until_due()
            if wait is not None and wait <= 0:
                self.deletion.delete_due()
        return PAUSE_SECONDS


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


def _due_deletions(context: Context) -> DueDeletions:
    return DueDeletions(context.get(Deletion), context.engine, context.clock)


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
