from ..accounts.service import Accounts
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter
from ..core.queue import LeasedQueue
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import Worker
from ..notifications.models import EXPAND_BROADCASTS, IS_EXPANDING, Expansion
from ..notifications.service import Notifications
from ..notifications.settings import NotificationsSettings
from .counts import NotificationCounter
from .expansions import Expansions
from .outcomes import Outcomes
from .saved import SavedDrafts, Segments, export_drafts
from .sent import SentNotifications


def assemble(context: Context) -> None:
    session, clock, ids = context.session, context.clock, context.tables.account_ids
    counter = NotificationCounter(session, clock)
    queue = LeasedQueue(context.db.engine, clock, Expansion, IS_EXPANDING)
    expansions = Expansions(
        session, context.get(Accounts), ids, context.get(Outbox), queue, counter
    )
    context.add(expansions)
    context.get(Worker).tasks[EXPAND_BROADCASTS] = expansions.runner()
    sent = SentNotifications(session, context.get(Notifications), expansions, counter)
    context.add(sent)
    context.add(Outcomes(sent, clock))
    context.add(Segments(session, clock, ids))
    drafts = SavedDrafts(session, clock, context.settings.of(NotificationsSettings).KEEP_DAYS)
    context.add(drafts)
    context.contribute(
        DataExporter(export_drafts),
        DoctorChecks(f"{__package__}.doctor"),
        Pruner("drafts", drafts.prune),
    )
