"""The blueprint of banners, and what it adds to an application.

Models, schemas and services are imported when they are first needed: a start must not wait for
them.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from ..accounts.models import AccountLike
from ..accounts.service import Accounts, Reclaimer
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter, DataSubject, ExportReader
from ..core.db.transaction import AnySession
from ..core.web.blueprint import Blueprint, LazyView
from ..core.web.operation import PathVariable


def assemble(context: Context) -> None:
    if not context.tables.is_service:
        _add_tables(context)
    context.add_feature("banners", _provide_banners)
    context.contribute(
        DataExporter(_export),
        Reclaimer(_remove_dismissals),
        Pruner("banners", partial(_prune, context)),
        PathVariable("banner_id", "ID of the banner."),
    )


def _add_tables(context: Context) -> None:
    from .models import Banner, BannerDismissal

    context.tables.add(Banner)
    context.tables.add(BannerDismissal)


def _provide_banners(context: Context) -> None:
    from .service import Banners

    context.add(Banners(context.session, context.clock, context.get(Accounts)))


def _export(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    from .dismissals import export_dismissals

    return export_dismissals(subject, reader)


def _remove_dismissals(session: AnySession, account: AccountLike, since: datetime | None) -> None:
    from .dismissals import remove_dismissals

    remove_dismissals(session, account, since)


def _prune(context: Context) -> int:
    from ..notifications.settings import NotificationsSettings
    from .dismissals import prune_banners

    keep_days = context.settings.of(NotificationsSettings).KEEP_DAYS
    return prune_banners(context.session, context.clock.now(), keep_days)


blueprint = Blueprint(
    "banners", __name__, needs=Accounts, assemble=assemble, about="Banners above every page"
)
for method, rule, name in (
    ("GET", "/banners", "list_banners"),
    ("POST", "/banners/<row_id:banner_id>/dismiss", "dismiss_banner"),
    ("GET", "/admin/banners", "list_managed_banners"),
    ("POST", "/admin/banners", "create_banner"),
    ("GET", "/admin/banners/<row_id:banner_id>", "get_managed_banner"),
    ("PATCH", "/admin/banners/<row_id:banner_id>", "update_banner"),
    ("DELETE", "/admin/banners/<row_id:banner_id>", "delete_banner"),
):
    view = LazyView(f"routes.{name}", __package__)
    blueprint.add_url_rule(rule, view_func=view, methods=[method])
