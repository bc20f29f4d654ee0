"""The queue of messages to accounts, with its channels, worker and engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..core.config.environment import SettingsError
from ..core.context import Context
from ..core.data_export import DataExporter, DataSubject, ExportReader
from ..core.extras import missing_extra
from .channel import AccountAddressBook, Channels, RecipientChoices
from .mail.base import Mailer
from .mail.channel import EmailChannel
from .mail.message_ids import MessageIds
from .mail.templates import Templates
from .outbox.batches import Batches
from .outbox.enqueue import Outbox
from .outbox.received import ReceivedDeliveries, export_deliveries
from .personal import FieldReader
from .settings import DeliverySettings
from .sms.gateway import SmsChannel, SmsGateway
from .start import in_memory
from .worker.celery import CeleryEngine
from .worker.engine import Engine, InlineEngine, ThreadEngine
from .worker.worker import BackgroundWork, Worker


def assemble(context: Context) -> None:
    context.add(SmsGateway(context.settings))
    context.contribute(DataExporter(partial(_export, context)))
    context.provide(Channels, _channels)
    context.provide(Worker, _worker)
    context.provide(Engine, _engine)  # type: ignore[type-abstract]
    context.provide(ReceivedDeliveries, _received)
    context.provide(Outbox, _outbox)


def _worker(context: Context) -> Worker:
    # The work of features that nothing has used yet may be due as well.
    works = context.all_contributions(BackgroundWork)
    fields = context.get(FieldReader)  # type: ignore[type-abstract]
    batches, choices = Batches(context.engine, context.clock), _choices(context)
    return Worker(batches, context.get(Channels), context.clock, works, fields, choices)


def _choices(context: Context) -> RecipientChoices:
    # The feature that has the choices may not be needed by anything else.
    context.assemble_all()
    return context.get(RecipientChoices)  # type: ignore[type-abstract]


def _engine(context: Context) -> Engine:
    engine: Engine = context.parts["engine"] or choose_engine(context)
    engine.bind(context.app, context.get(Worker))
    return engine


def _received(context: Context) -> ReceivedDeliveries:
    ids = context.tables.account_ids
    return ReceivedDeliveries(context.session, context.get(Channels), ids)


def _outbox(context: Context) -> Outbox:
    engine = context.get(Engine)  # type: ignore[type-abstract]
    ids = context.tables.account_ids
    choices = _choices(context)
    return Outbox(context.session, context.get(Channels), engine, context.clock, choices, ids)


def _export(
    context: Context, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    fields = context.get(FieldReader)  # type: ignore[type-abstract]
    return export_deliveries(context.get(Channels), fields, subject, reader)


def _channels(context: Context) -> Channels:
    account_model = context.tables.account_model
    assert account_model is not None

    def accounts(needs: str | None = None) -> AccountAddressBook:
        return AccountAddressBook(account_model, context.engine, context.tables.account_ids, needs)

    link = partial(notification_url, context)
    mailer = context.get(Mailer)  # type: ignore[type-abstract]
    templates = context.get(Templates)
    ids = MessageIds(context.engine, context.clock)
    choices = _choices(context)
    email = EmailChannel(mailer, templates, link, context.clock, accounts("email"), ids, choices)
    sms = SmsChannel(context.get(SmsGateway), accounts("phone"))
    return Channels([email, sms], context.hooks.named("channel"), accounts())


def notification_url(context: Context, url: str | None = None) -> str:
    """Return the URL of the link in a notification's email: the notification's own URL, otherwise
    the inbox, or the console's start without one."""
    chosen, core = context.settings.of(DeliverySettings), context.settings.core
    if url is not None:
        return core.link_url(url)
    has_inbox = context.mounted.names & {"console", "notifications"} != {"console"}
    if has_inbox or not core.links_to_console or "DASHBOARD_PATH" in chosen.model_fields_set:
        return core.page_url(chosen.DASHBOARD_PATH)
    return core.page_url("/")


def choose_engine(context: Context) -> Engine:
    if (application_celery := context.parts.get("celery")) is not None:
        return CeleryEngine(application_celery=application_celery)
    broker = context.settings.core.CELERY_BROKER_URL
    if broker is None or not broker.get_secret_value():
        return InlineEngine() if in_memory(context) else ThreadEngine()
    url = broker.get_secret_value()
    for extra in ("celery", "redis") if url.startswith("redis") else ("celery",):
        if line := missing_extra(extra):
            raise SettingsError(f"CORE__CELERY_BROKER_URL is set and needs an extra: {line}")
    return CeleryEngine(url, context.settings.of(DeliverySettings).QUEUE)
