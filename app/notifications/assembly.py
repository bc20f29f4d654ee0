from collections.abc import Iterator
from functools import partial

from ..accounts.service import Accounts, Reclaimer
from ..auth.proofs import Proofs
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter, DataSubject, ExportReader
from ..core.web.operation import PathVariable
from ..delivery.channel import RecipientChoices
from ..delivery.outbox.enqueue import Outbox
from ..delivery.personal import FieldReader
from . import preferences
from .choices import Choices
from .export import export_notifications
from .inbox import Inbox
from .keys import NotificationKeys
from .kinds import NotificationKinds
from .models import SeenMark
from .personal import PersonalFields
from .retention import NotificationRetention
from .seen import SeenMarks
from .service import Notifications
from .settings import NotificationsSettings
from .undo import InboxUndo
from .unsubscribe import UnsubscribeLinks, UnsubscribeTokens


def assemble(context: Context) -> None:
    keep_days = context.settings.of(NotificationsSettings).KEEP_DAYS
    retention = NotificationRetention(context.session, context.clock, keep_days)
    keys = NotificationKeys(context.session, context.clock)
    context.add(retention)
    context.add(keys)
    context.provide(PersonalFields, _fields)
    context.provide(FieldReader, _fields_of_worker)  # type: ignore[type-abstract]
    context.provide(Inbox, lambda known: Inbox(known.session, known.get(PersonalFields)))
    context.provide(InboxUndo, _undo)
    context.provide(Notifications, _notifications)
    context.provide(UnsubscribeTokens, _tokens)
    context.provide(RecipientChoices, _choices)  # type: ignore[type-abstract]
    context.contribute(
        DataExporter(partial(_export, context)),
        DoctorChecks(f"{__package__}.doctor"),
        PathVariable("notification_id", "ID of the notification."),
        Pruner("notifications", retention.prune),
        Pruner("notification_keys", keys.prune),
    )


def assemble_blueprint(context: Context) -> None:
    """Add what only applications with the blueprint have, with its tables."""
    preferences.assemble(context)
    context.tables.add(SeenMark)
    context.provide(SeenMarks, lambda known: SeenMarks(known.session))
    context.contribute(
        Reclaimer(lambda _session, account, _since: context.get(SeenMarks).remove(account))
    )


def _export(
    context: Context, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    return export_notifications(context.get(PersonalFields), subject, reader)


def _fields(context: Context) -> PersonalFields:
    return PersonalFields(context.get(Accounts).model, context.engine)


def _fields_of_worker(context: Context) -> FieldReader:
    return context.get(PersonalFields)


def _tokens(context: Context) -> UnsubscribeTokens:
    return UnsubscribeTokens(context.settings, context.tables.account_ids)


def _choices(context: Context) -> RecipientChoices:
    settings = context.settings
    path = settings.of(NotificationsSettings).PREFERENCES_PATH
    links = UnsubscribeLinks(
        context.app, settings.core.PUBLIC_URL, context.mounted.names, context.get(UnsubscribeTokens)
    )
    return Choices(
        context.session,
        context.engine,
        context.get(NotificationKinds),
        links,
        settings.core.page_url(path),
        context.mounted.names,
    )


def _undo(context: Context) -> InboxUndo:
    return InboxUndo(context.session, context.get(Proofs))


def _notifications(context: Context) -> Notifications:
    return Notifications(
        context.basics,
        context.get(Accounts),
        context.get(Outbox),
        context.settings.of(NotificationsSettings).INLINE_RECEIVERS,
        context.get(NotificationKinds),
        context.get(NotificationKeys),
    )
