from functools import partial

from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import PathVariable
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import Worker
from .export import export_notifications
from .inbox import Inbox
from .personal import PersonalFields
from .retention import NotificationRetention
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
    context.add(
        Notifications(session, accounts, outbox, context.hooks, clock, settings.INLINE_RECEIVERS)
    )
