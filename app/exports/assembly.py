from collections.abc import Callable
from datetime import timedelta
from functools import partial
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
from ..delivery.worker.worker import BackgroundWork
from ..profiles.assembly import open_file_store
from ..profiles.settings import ProfilesSettings
from ..storage.files import LargeFileStore
from .making import MAKE_EXPORTS, ExportMaking, ExportWriter, export_queue
from .service import Exports, notify_owner


def assemble(context: Context) -> None:
    context.provide(Exports, _exports)
    context.provide(ExportMaking, _making)

    def delete_files(account: AccountLike, _options: object) -> None:
        # Without the blueprint, an application may not have the table.
        if "exports" in context.mounted.names:
            context.get(Exports).delete_files(account)

    def prune() -> int:
        return context.get(Exports).prune() if "exports" in context.mounted.names else 0

    context.actions.on(DELETED.name, delete_files)
    context.contribute(
        DoctorChecks(f"{__package__}.doctor"),
        Pruner("exports", prune),
        PathVariable("export_id", "ID of the data export."),
    )
    if context.settings.of(AuthSettings).ACCOUNT_EXPORTS != "off":
        work = BackgroundWork(MAKE_EXPORTS, lambda: context.get(ExportMaking).runner())
        context.contribute(work)


def _exports(context: Context) -> Exports:
    return Exports(
        context.session,
        _files(context),
        context.get(Engine),  # type: ignore[type-abstract]
        context.clock,
        _keep(context),
        partial(notify_owner, context.get(Templates), context.get(OwnerMail)),
    )


def _files(context: Context) -> LargeFileStore:
    folder = context.settings.of(AuthSettings).EXPORT_FOLDER
    files: LargeFileStore = context.parts["export_store"] or open_file_store(
        context.settings.of(ProfilesSettings), Path(context.app.instance_path), folder
    )
    return files


def _keep(context: Context) -> timedelta:
    return timedelta(days=context.settings.of(AuthSettings).EXPORT_KEEP_DAYS)


def _making(context: Context) -> ExportMaking:
    accounts, engine = context.get(Accounts), context.engine
    exporters = context.all_contributions(DataExporter)
    return ExportMaking(
        export_queue(engine, context.clock),
        context.clock,
        _keep(context),
        ExportWriter(engine, context.hooks, exporters, accounts.is_email_verified),
        context.get(Exports).files,
        _sessions(context),
        accounts.model,
    )


def _sessions(context: Context) -> Callable[[], Session]:
    """Return a factory of sessions that ignores a test's replacement of the request's session."""
    found = cast("scoped_session[Session]", context.session)
    return lambda: found.session_factory()
