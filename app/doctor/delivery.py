"""Checks of the mail server and of the message broker."""

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
from .findings import Finding, run_within

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# A server that runs responds within these times, and an operator can wait for them.
TIMEOUTS = Timeouts(connect=4.0, command=4.0, accept=4.0)
TOTAL_SECONDS = 8.0
# The doctor does not know the number of workers, so it waits for all of this time.
WORKER_SECONDS = 2.0


def check_mail_settings() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    mail = MailSettings.read(current_app.config, settings)
    if not settings.core.EMAILS_ENABLED:
        text = "CORE__EMAILS_ENABLED is off, so no email is sent. Set the setting to true."
        yield Finding("mail", "warning", text)
    elif mail.suppress_send:
        text = "MAIL_SUPPRESS_SEND is on, so no email is sent. Remove the setting to send emails."
        yield Finding("mail", "warning", text)
    elif not mail.server:
        text = (
            "MAIL_SERVER is not set, so emails are written to instance/outbox. Set MAIL_SERVER to"
            " send emails."
        )
        yield Finding("mail", "warning", text)
    else:
        yield from _contradictions(mail)


def check_mail_server() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    mail = MailSettings.read(current_app.config, settings)
    if not (settings.core.EMAILS_ENABLED and mail.server) or mail.suppress_send:
        return
    if (problem := _mail_problem(mail)) is not None:
        yield Finding("mail", "fault", f"The mail server cannot be used: {problem}.")


def _contradictions(mail: MailSettings) -> Iterator[Finding]:
    if mail.use_tls and mail.use_ssl:
        text = (
            "MAIL_USE_TLS (port 587) and MAIL_USE_SSL (port 465) are both on. Remove one of them."
        )
        yield Finding("mail", "fault", text)
    if bool(mail.username) != bool(mail.password):
        given, missing = ("USERNAME", "PASSWORD") if mail.username else ("PASSWORD", "USERNAME")
        text = (
            f"MAIL_{given} is set and MAIL_{missing} is not, so emails are sent without signing in"
            f" to the mail server. Set MAIL_{missing}, or remove MAIL_{given}."
        )
        yield Finding("mail", "fault", text)
    elif mail.username and not (mail.use_tls or mail.use_ssl) and mail.server not in LOOPBACK:
        text = "MAIL_PASSWORD is sent to the mail server without encryption. Set MAIL_USE_TLS=true."
        yield Finding("mail", "warning", text)


def _mail_problem(mail: MailSettings) -> str | None:
    """Connect, greet, sign in and check the sender, without an email; return the error if any."""
    mailer = SmtpMailer(mail, TIMEOUTS)

    def probe() -> None:
        with mailer.probe() as connection:
            connection.check_sender(mailer.writer.sender)

    try:
        run_within(TOTAL_SECONDS, probe)
    except DeliveryError as error:
        return error.reason.rstrip(".")
    except TimeoutError:
        return (
            f"{mail.server}:{mail.port} needs more than {TOTAL_SECONDS:.0f} seconds to accept a"
            " connection; see MAIL_SERVER and MAIL_PORT"
        )
    return None


def check_broker() -> Iterator[Finding]:
    engine = current_frontdesk.services.get(Engine)
    if isinstance(engine, CeleryEngine):
        from kombu.utils.url import sanitize_url

        celery = engine.celery

        def connect() -> None:
            with celery.connection_for_write() as broker:
                broker.connect()

        try:
            run_within(TOTAL_SECONDS, connect)
        except Exception as error:
            # Of sentinels, Celery's URL has one URL each.
            url = ";".join(map(sanitize_url, celery.conf.broker_url.split(";")))
            text = f"The broker {url} {_broker_problem(error)}. Check CORE__CELERY_BROKER_URL."
            yield Finding("broker", "fault", text)
        else:
            yield from _workers(engine)


def _workers(engine: CeleryEngine) -> Iterator[Finding]:
    """A broker without a worker stores jobs and delivers nothing."""
    if not engine.celery.conf.worker_enable_remote_control:
        return
    found: list[bool] = []
    with suppress(TimeoutError):
        run_within(TOTAL_SECONDS, lambda: found.append(has_worker(engine, WORKER_SECONDS)))
    if not any(found):
        text = (
            f"No Celery worker consumes the queue '{engine.queue}', so messages wait in the queue."
            " Start a worker with `celery -A …:celery worker`."
        )
        yield Finding("workers", "fault", text)


# By the names of the classes, so that the libraries of Redis and RabbitMQ need no import.
_BROKER_PROBLEMS = {
    "AuthenticationError": "rejects the user or the password",
    "AccessRefused": "rejects the user or the password",
    "NotAllowed": "has no such virtual host, or rejects the user for this virtual host",
    "ConnectionRefusedError": "refuses connections: no server listens there",
    "gaierror": "has a host name that cannot be resolved",
    "UnicodeError": "has a host name that cannot be resolved",
    "KeyError": "has a scheme that Celery does not support",
    "TimeoutError": "does not respond",
}


def _broker_problem(error: BaseException | None) -> str:
    """Return the problem of the innermost known error: the libraries wrap errors of the system."""
    first = type(error).__name__
    while error is not None:
        for kind in type(error).__mro__:
            if kind.__name__ in _BROKER_PROBLEMS:
                return _BROKER_PROBLEMS[kind.__name__]
        error = error.__cause__ or error.__context__
    return f"cannot be used ({first})"
