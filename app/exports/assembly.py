from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import cast

from sqlalchemy.orm import Session, scoped_session

from ..accounts.actions import DELETED
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.settings import AuthSettings
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import PathVariable
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.engine import Engine
from ..delivery.worker.worker import Worker
from ..profiles.assembly import open_file_store
from ..profiles.settings import ProfilesSettings
from .making import MAKE_EXPORTS, ExportMaking, ExportWriter, export_queue
from .service import ExportNotices, Exports


def assemble(context: Context) -> None:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    keep = timedelta(days=auth.EXPORT_KEEP_DAYS)
    files = context.parts["export_store"] or open_file_store(
        context.settings.of(ProfilesSettings), Path(context.app.instance_path), auth.EXPORT_FOLDER
    )
    engine = context.get(Engine)  # type: ignore[type-abstract]
    exports = Exports(
        context.session,
        files,
        engine,
        context.clock,
        keep,
        ExportNotices(context.get(Templates), context.get(OwnerMail)),
    )
    context.add(exports)

    def erase(account: AccountLike, _options: object) -> None:
        # Without the blueprint, an application may not have the table.
        if "exports" in context.mounted.names:
            exports.delete_files(account)
        context.hooks.eraser(account, context.session)

    context.actions.on(DELETED.name, erase)
    context.contribute(
        DoctorChecks(f"{__package__}.doctor"),
        Pruner("exports", lambda: exports.prune() if "exports" in context.mounted.names else 0),
        PathVariable("export_id", "ID of the data export."),
    )
    if auth.ACCOUNT_EXPORTS == "off":
        return
    worker = context.get(Worker)
    writer = ExportWriter(
        context.db.engine,
        context.hooks,
        context.contributions(DataExporter),
        accounts.is_email_verified,
    )
    queue = export_queue(context.db.engine, context.clock)
    making = ExportMaking(
        queue, context.clock, keep, writer, files, _sessions(context), accounts.model
    )
    worker.tasks[MAKE_EXPORTS] = making.runner()


def _sessions(context: Context) -> Callable[[], Session]:
    """Return a factory of sessions that ignores a test's replacement of the request's session."""
    found = cast("scoped_session[Session]", context.session)
    return lambda: found.session_factory()
