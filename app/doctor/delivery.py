"""The doctor's questions to the servers that deliveries go through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from flask import current_app

from ..core.context import current_frontdesk
from ..delivery.errors import DeliveryError
from ..delivery.mail.settings import MailSettings
from ..delivery.mail.smtp import SmtpMailer
from ..delivery.mail.smtp_connection import Timeouts
from ..delivery.worker.celery import CeleryEngine, has_worker
from ..delivery.worker.engine import Engine
from .findings import Finding, ask_within

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Long enough for a server that is there, and for an operator to wait.
ONE_ANSWER = Timeouts(connect=4.0, command=4.0, accept=4.0)
ALL_SECONDS = 8.0
# All that answer within it are heard; there is no telling how many they are.
WORKER_SECONDS = 2.0


def check_mail_settings() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    mail = MailSettings.read(current_app.config, settings)
    if not settings.core.EMAILS_ENABLED:
        yield Finding("mail", "warning", "CORE__EMAILS_ENABLED is off: no mail leaves")
    elif mail.suppress_send:
        yield Finding("mail", "warning", "MAIL_SUPPRESS_SEND is on: no mail leaves")
    elif not mail.server:
        yield Finding("mail", "warning", "MAIL_SERVER is not set: mails go to instance/outbox")
    else:
        yield from _contradictions(mail)


def check_mail_server() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    mail = MailSettings.read(current_app.config, settings)
    if not (settings.core.EMAILS_ENABLED and mail.server) or mail.suppress_send:
        return
    if (trouble := _mail_trouble(mail)) is not None:
        yield Finding("mail", "fault", trouble)


def _contradictions(mail: MailSettings) -> Iterator[Finding]:
    if mail.use_tls and mail.use_ssl:
        text = "MAIL_USE_TLS (port 587) and MAIL_USE_SSL (port 465) are both on: leave one of them"
        yield Finding("mail", "fault", text)
    if bool(mail.username) != bool(mail.password):
        given, missing = ("USERNAME", "PASSWORD") if mail.username else ("PASSWORD", "USERNAME")
        text = f"MAIL_{given} is set and MAIL_{missing} is not: we do not sign in"
        yield Finding("mail", "fault", text)
    elif mail.username and not (mail.use_tls or mail.use_ssl) and mail.server not in LOOPBACK:
        text = "the mail password goes over the network readable: set MAIL_USE_TLS"
        yield Finding("mail", "warning", text)


def _mail_trouble(mail: MailSettings) -> str | None:
    """Connects, greets, signs in, and asks whether we may send: no mail leaves."""
    mailer = SmtpMailer(mail, ONE_ANSWER)

    def ask() -> None:
        with mailer.probe() as connection:
            connection.check_sender(mailer.writer.sender)

    try:
        ask_within(ALL_SECONDS, ask)
    except DeliveryError as error:
        return error.reason
    except TimeoutError:
        where = f"{mail.server}:{mail.port}"
        return f"{where} takes over {ALL_SECONDS:.0f} s to let us in; see MAIL_SERVER and MAIL_PORT"
    return None


def check_broker() -> Iterator[Finding]:
    engine = current_frontdesk.services.get(Engine)
    if isinstance(engine, CeleryEngine):
        from kombu.utils.url import sanitize_url

        celery = engine.celery

        def ask() -> None:
            with celery.connection_for_write() as broker:
                broker.connect()

        try:
            ask_within(ALL_SECONDS, ask)
        except Exception as error:
            url = sanitize_url(celery.conf.broker_url)
            text = f"{url} {_broker_trouble(error)}; see CORE__CELERY_BROKER_URL"
            yield Finding("broker", "fault", text)
        else:
            yield from _workers(engine)


def _workers(engine: CeleryEngine) -> Iterator[Finding]:
    """A broker alone keeps jobs and delivers nothing."""
    if not engine.celery.conf.worker_enable_remote_control:
        return
    found: list[bool] = []
    with suppress(TimeoutError):
        ask_within(ALL_SECONDS, lambda: found.append(has_worker(engine, WORKER_SECONDS)))
    if not any(found):
        text = (
            f"no Celery worker answers that takes from the queue '{engine.queue}': what is sent"
            " waits until one runs, `celery -A …:celery worker`"
        )
        yield Finding("workers", "fault", text)


# The libraries of Redis and RabbitMQ are not imported for their errors' names alone.
_BROKER_TROUBLES = {
    "AuthenticationError": "refuses its user or password",
    "AccessRefused": "refuses its user or password",
    "NotAllowed": "has no such virtual host, or does not let this user into it",
    "ConnectionRefusedError": "refuses connections: nothing listens there",
    "gaierror": "has a host whose name is not found",
    "UnicodeError": "has a host whose name is not found",
    "KeyError": "has a scheme that Celery does not know",
    "TimeoutError": "does not answer",
}


def _broker_trouble(error: BaseException | None) -> str:
    """What lies under it tells most: the libraries wrap what the system says."""
    first = type(error).__name__
    while error is not None:
        for kind in type(error).__mro__:
            if kind.__name__ in _BROKER_TROUBLES:
                return _BROKER_TROUBLES[kind.__name__]
        error = error.__cause__ or error.__context__
    return f"cannot be used ({first})"
