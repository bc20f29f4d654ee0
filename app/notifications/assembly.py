from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context
from ..core.queue import LeasedQueue
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import Worker
from .counts import NotificationCounter
from .expansions import EXPAND_BROADCASTS, Expansions
from .export import export_notifications
from .inbox import Inbox
from .models import IS_EXPANDING, Expansion
from .retention import NotificationRetention
from .sent import SentNotifications
from .service import Notifications
from .settings import NotificationsSettings
from .undo import InboxUndo


def assemble(context: Context) -> None:
    context.contributions.commands.append("notifications")
    context.contributions.exporters.append(export_notifications)
    session, clock = context.session, context.clock
    model, outbox = context.get(Accounts).model, context.get(Outbox)
    inbox = Inbox(session)
    context.add(inbox)
    context.add(InboxUndo(session, inbox, context.get(Proofs)))
    settings = context.settings.of(NotificationsSettings)
    retention = NotificationRetention(session, clock, settings.KEEP_DAYS)
    context.add(retention)
    context.contributions.pruners["notifications"] = retention.prune
    counter = NotificationCounter(session, clock)
    queue = LeasedQueue(context.db.engine, clock, Expansion, IS_EXPANDING)
    expansions = Expansions(session, model, context.tables.account_ids, outbox, queue, counter)
    context.add(expansions)
    context.get(Worker).tasks[EXPAND_BROADCASTS] = expansions.runner()
    inline = settings.INLINE_RECEIVERS
    notifications = Notifications(session, model, outbox, context.hooks, clock, expansions, inline)
    context.add(notifications)
    context.add(SentNotifications(session, notifications, counter))
