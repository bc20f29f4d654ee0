from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from werkzeug.local import LocalProxy

from ..core.config.environment import SettingsError
from ..core.context import Context, DoctorChecks, WhenServing
from ..core.data_export import DataExporter
from ..core.extras import missing_extra
from ..core.types import AccountModel
from .channel import AccountAddressBook, Channels
from .mail.base import Mailer
from .mail.brand import BrandSettings
from .mail.channel import EmailChannel
from .mail.mailer import open_mailer
from .mail.message_ids import MessageIds
from .mail.one_off import BackgroundMail, OneOffMail
from .mail.settings import MailSettings
from .mail.templates import Templates
from .outbox.batches import Batches
from .outbox.enqueue import Outbox
from .outbox.received import ReceivedDeliveries, export_deliveries
from .settings import DeliverySettings
from .sms.gateway import SmsChannel, SmsGateway
from .worker.celery import CeleryEngine
from .worker.engine import Engine, FirstRequest, InlineEngine, ThreadEngine
from .worker.worker import Worker

if TYPE_CHECKING:
    from flask_mail import Mail


def assemble(context: Context) -> None:
    mailer = open_mailer(context.app, context.settings)
    one_off_mail = context.parts["one_off_mail"]
    # Compared with None, because an empty outbox of tests is false.
    if one_off_mail is None:
        one_off_mail = BackgroundMail(mailer, context.clock.now)
    context.contribute(DoctorChecks(f"{__package__}.doctor"))
    context.add(mailer, Mailer)
    core, brand = context.settings.core, context.settings.of(BrandSettings)
    context.add(Templates(context.app, core, brand, partial(_find_locale, context)))
    context.add(one_off_mail, OneOffMail)
    context.app.extensions.setdefault("mail", _flask_mail(context, mailer))
    context.add(SmsGateway(context.settings))
    if context.tables.account_model is None:
        return
    channels = _channels(context, mailer, context.tables.account_model)
    worker = Worker(Batches(context.db.engine, context.clock), channels, context.clock)
    engine: Engine = context.parts["engine"] or choose_engine(context)
    engine.bind(context.app, worker)
    context.contribute(DataExporter(partial(export_deliveries, channels, lambda: worker.fields)))
    context.add(worker)
    context.add(engine, Engine)
    context.add(ReceivedDeliveries(context.session, channels, context.tables.account_ids))
    context.add(
        Outbox(context.session, channels, engine, context.clock, context.tables.account_ids)
    )
    context.contribute(WhenServing(engine.start))
    context.add(FirstRequest(context.app, engine))


def _find_locale(context: Context, email: str) -> str | None:
    """Return the language of the account with this email address, if the model has languages."""
    account = context.tables.account_model
    locale = getattr(account, "locale", None)
    if account is None or locale is None:
        return None
    with context.session.no_autoflush:
        found: str | None = context.session.scalar(select(locale).where(account.email == email))
    return found


def _flask_mail(context: Context, mailer: Mailer) -> Any:
    """Return Flask-Mail's `Mail`, created when it is first used, for an application without one."""

    @cache
    def create() -> Mail:
        from .mail.hardened_mail import HardenedMail

        mail = MailSettings.read(context.app.config, context.settings)
        return HardenedMail(context.app, mailer, mail)

    return LocalProxy(create)


def _channels(context: Context, mailer: Mailer, account_model: AccountModel) -> Channels:
    def accounts(needs: str | None = None) -> AccountAddressBook:
        return AccountAddressBook(
            account_model, context.db.engine, context.tables.account_ids, needs
        )

    path = context.settings.of(DeliverySettings).DASHBOARD_PATH
    link = context.settings.core.page_url(path)
    templates = context.get(Templates)
    ids = MessageIds(context.db.engine, context.clock)
    email = EmailChannel(mailer, templates, link, context.clock, accounts("email"), ids)
    sms = SmsChannel(context.get(SmsGateway), accounts("phone"))
    return Channels([email, sms], context.hooks.named("channel"), accounts())


def choose_engine(context: Context) -> Engine:
    if (application_celery := context.parts.get("celery")) is not None:
        return CeleryEngine(application_celery=application_celery)
    broker = context.settings.core.CELERY_BROKER_URL
    if broker is None or not broker.get_secret_value():
        database = context.db.engine.url
        if database.get_backend_name() == "sqlite" and database.database in (None, "", ":memory:"):
            return InlineEngine()
        return ThreadEngine()
    url = broker.get_secret_value()
    for extra in ("celery", "redis") if url.startswith("redis") else ("celery",):
        if line := missing_extra(extra):
            raise SettingsError(f"CORE__CELERY_BROKER_URL is set and needs an extra: {line}")
    return CeleryEngine(url, context.settings.of(DeliverySettings).QUEUE)
