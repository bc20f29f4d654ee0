from __future__ import annotations

from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context
from ..core.queue import LeasedQueue
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import Worker
from .counts import NotificationCounter
from .expansions import CHORE, Expander, Expansions
from .export import export_notifications
from .inbox import Inbox
from .models import IS_EXPANDING, Expansion
from .outcome import Outcome
from .reach import Reach
from .restoring import Restoring
from .retention import Retention
from .sent import SentNotifications
from .service import Notifications
from .settings import NotificationsSettings


def assemble(context: Context) -> None:
    context.contributions.commands.append("notifications")
    context.contributions.exporters.append(export_notifications)
    session, clock = context.session, context.clock
    model, outbox = context.get(Accounts).model, context.get(Outbox)
    inbox = Inbox(session)
    context.add(inbox)
    context.add(Restoring(session, inbox, context.get(Proofs)))
    settings = context.settings.of(NotificationsSettings)
    retention = Retention(session, clock, settings.KEEP_DAYS)
    context.add(retention)
    context.contributions.pruners["notifications"] = retention.prune
    expansions = Expansions(session, model, context.tables.account_ids, outbox, clock)
    context.add(expansions)
    inline = settings.INLINE_RECEIVERS
    notifications = Notifications(session, model, outbox, context.hooks, clock, expansions, inline)
    context.add(notifications)
    counter = NotificationCounter(session, clock)
    queue = LeasedQueue(context.db.engine, clock, Expansion, IS_EXPANDING)
    context.get(Worker).chores[CHORE] = Expander(expansions, queue, counter).runner()
    sent = SentNotifications(session, notifications, counter)
    context.add(sent)
    context.add(Reach(notifications))
    context.add(Outcome(sent, outbox, expansions, model, context.tables.account_ids))
