from ..accounts.service import Accounts
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter
from ..core.queue import LeasedQueue
from ..delivery.outbox.enqueue import Outbox
from ..delivery.worker.worker import BackgroundWork
from ..notifications.models import EXPAND_BROADCASTS, IS_EXPANDING, Expansion
from ..notifications.service import Notifications
from ..notifications.settings import NotificationsSettings
from .counts import NotificationCounter
from .expansions import Expansions
from .outcomes import Outcomes
from .saved import SavedDrafts, Segments, export_drafts
from .sent import SentNotifications


def assemble(context: Context) -> None:
    session, clock = context.session, context.clock
    drafts = SavedDrafts(session, clock, context.settings.of(NotificationsSettings).KEEP_DAYS)
    context.add(drafts)
    context.add(NotificationCounter(session, clock))
    context.add(Segments(session, clock, context.tables.account_ids))
    context.provide(Expansions, _expansions)
    context.provide(SentNotifications, _sent)
    context.provide(Outcomes, lambda known: Outcomes(known.get(SentNotifications), known.clock))
    context.contribute(
        DataExporter(export_drafts),
        DoctorChecks(f"{__package__}.doctor"),
        Pruner("drafts", drafts.prune),
        BackgroundWork(EXPAND_BROADCASTS, lambda: context.get(Expansions).runner()),
    )


def _expansions(context: Context) -> Expansions:
    return Expansions(
        context.session,
        context.get(Accounts),
        context.tables.account_ids,
        context.get(Outbox),
        LeasedQueue(context.engine, context.clock, Expansion, IS_EXPANDING),
        context.get(NotificationCounter),
    )


def _sent(context: Context) -> SentNotifications:
    return SentNotifications(
        context.session,
        context.get(Notifications),
        context.get(Expansions),
        context.get(NotificationCounter),
    )
