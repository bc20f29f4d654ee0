from ..accounts.service import Accounts, Reclaimer
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import PathVariable
from ..notifications.settings import NotificationsSettings
from .dismissals import BannerRetention, export_dismissals, remove_dismissals
from .models import Banner, BannerDismissal
from .service import Banners


def assemble(context: Context) -> None:
    context.tables.add(Banner)
    context.tables.add(BannerDismissal)
    keep_days = context.settings.of(NotificationsSettings).KEEP_DAYS
    retention = BannerRetention(context.session, context.clock, keep_days)
    context.provide(Banners, lambda known: Banners(known.session, known.clock, known.get(Accounts)))
    context.contribute(
        DataExporter(export_dismissals),
        Reclaimer(remove_dismissals),
        Pruner("banners", retention.prune),
        PathVariable("banner_id", "ID of the banner."),
    )
