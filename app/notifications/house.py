"""What of this slice and of delivery one application has, put together."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from flask import Flask
from sqlalchemy import Engine as DatabaseEngine

from ..core.desk import Desk
from ..core.settings import SettingsError
from ..delivery.celery_engine import CeleryEngine
from ..delivery.channel import Channels
from ..delivery.courier import Courier
from ..delivery.email import EmailChannel
from ..delivery.engine import Engine, InlineEngine, ThreadEngine
from ..delivery.mailer import Mailer
from ..delivery.queue import Queue
from ..delivery.sms import SmsChannel, SmsGateway
from ..delivery.templates import Templates
from .inbox import Inbox
from .retention import Retention
from .sending import Sending
from .sent import SentNotifications


def furnish(
    app: Flask,
    desk: Desk,
    database: DatabaseEngine,
    account_model: type[Any],
    mailer: Mailer,
    engine: Engine | None,
) -> None:
    core, ours = desk.settings.core, desk.settings.notifications
    gateway = SmsGateway(desk.settings)
    link = f"{core.CLIENT_HOST}{ours.DASHBOARD_PATH}"
    email = EmailChannel(mailer, Templates(app), link, desk.clock)
    channels = Channels([email, SmsChannel(gateway)], desk.hooks.channels)
    courier = Courier(Queue(database, account_model, desk.clock), channels, desk.clock)
    engine = engine or choose_engine(desk, database)
    engine.attend(app, courier)
    desk.services[Engine] = engine
    desk.add(gateway)
    desk.add(courier)
    desk.add(Inbox(desk.session))
    desk.add(SentNotifications(desk.session, desk.clock))
    desk.add(Retention(desk.session, desk.clock))
    desk.add(Sending(desk.session, account_model, channels, engine, desk.hooks, desk.clock))
    app.before_request(engine.start)


def choose_engine(desk: Desk, database: DatabaseEngine) -> Engine:
    broker = desk.settings.core.CELERY_BROKER_URL
    if broker is None or not broker.get_secret_value():
        if database.dialect.name == "sqlite" and database.url.database in (None, "", ":memory:"):
            return InlineEngine()
        return ThreadEngine()
    if find_spec("celery") is None:
        raise SettingsError(
            "CORE__CELERY_BROKER_URL is set: install celery, as flask-frontdesk[celery] does."
        )
    return CeleryEngine(broker.get_secret_value(), desk.settings.notifications.QUEUE)
