from __future__ import annotations

from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context
from ..delivery.outbox.enqueue import Outbox
from .counts import NotificationCounter
from .export import export_notifications
from .inbox import Inbox
from .outcome import Outcome
from .reach import Reach
from .restoring import Restoring
from .retention import Retention
from .sent import SentNotifications
from .service import Notifications
from .settings import NotificationsSettings


def assemble(context: Context) -> None:
    if not context.has(Accounts):
        return
    context.commands.append("notifications")
    context.exporters.append(export_notifications)
    session, clock = context.session, context.clock
    model, outbox = context.get(Accounts).model, context.get(Outbox)
    inbox = Inbox(session)
    context.add(inbox)
    context.add(Restoring(session, inbox, context.get(Proofs)))
    retention = Retention(session, clock, context.settings.of(NotificationsSettings).KEEP_DAYS)
    context.add(retention)
    context.pruners["notifications"] = retention.prune
    notifications = Notifications(session, model, outbox, context.hooks, clock)
    context.add(notifications)
    counter = NotificationCounter(session, clock)
    sent = SentNotifications(session, notifications, counter)
    context.add(sent)
    context.add(Reach(notifications))
    context.add(Outcome(sent, outbox, model, context.account_ids))
