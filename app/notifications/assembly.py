from functools import partial

from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.queue import LeasedQueue
from ..core.web.operation import PathVariable
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import Worker
from .counts import NotificationCounter
from .expansions import EXPAND_BROADCASTS, Expansions
from .export import export_notifications
from .inbox import Inbox
from .models import IS_EXPANDING, Expansion
from .outcomes import Outcomes
from .personal import PersonalFields
from .retention import NotificationRetention
from .saved import SavedDrafts, Segments, export_drafts
from .sent import SentNotifications
from .service import Notifications
from .settings import NotificationsSettings
from .undo import InboxUndo


def assemble(context: Context) -> None:
    session, clock = context.session, context.clock
    accounts, outbox = context.get(Accounts), context.get(Outbox)
    fields = PersonalFields(accounts.model, context.db.engine)
    context.add(fields)
    context.contribute(
        DataExporter(partial(export_notifications, fields)),
        PathVariable("notification_id", "ID of the notification."),
    )
    context.get(Worker).fields = fields
    inbox = Inbox(session, fields)
    context.add(inbox)
    context.add(InboxUndo(session, inbox, context.get(Proofs)))
    settings = context.settings.of(NotificationsSettings)
    retention = NotificationRetention(session, clock, settings.KEEP_DAYS)
    context.add(retention)
    context.contribute(Pruner("notifications", retention.prune))
    counter = NotificationCounter(session, clock)
    queue = LeasedQueue(context.db.engine, clock, Expansion, IS_EXPANDING)
    expansions = Expansions(
        session,
        accounts,
        context.tables.account_ids,
        outbox,
        queue,
        counter,
        settings.INLINE_RECEIVERS,
    )
    context.add(expansions)
    context.get(Worker).tasks[EXPAND_BROADCASTS] = expansions.runner()
    notifications = Notifications(session, accounts, outbox, context.hooks, clock, expansions)
    context.add(notifications)
    sent = SentNotifications(session, notifications, counter)
    context.add(sent)
    context.add(Outcomes(sent, clock))
    context.add(Segments(session, clock, context.tables.account_ids))
    drafts = SavedDrafts(session, clock, settings.KEEP_DAYS)
    context.add(drafts)
    context.contribute(DataExporter(export_drafts), Pruner("drafts", drafts.prune))
