"""Checks of mail server, brand, SMS, message broker and queue."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from flask import current_app
from sqlalchemy import inspect

from ..core.context import current_frontdesk, service
from ..core.doctor import LOOPBACK, Check, Finding, find_exposed_folder, run_within
from ..core.extras import missing_extra
from ..core.queue import LONGEST_WAIT
from .errors import DeliveryError
from .mail.base import Mailer
from .mail.mailer import FolderMailer
from .mail.settings import MailSettings
from .mail.smtp import SmtpMailer
from .mail.smtp_connection import Timeouts
from .mail.templates import Templates
from .outbox.enqueue import Outbox, oldest_pending
from .outbox.models import Delivery
from .worker.celery import CeleryEngine, has_worker
from .worker.engine import Engine

# The minimum of WCAG for text of this size.
MIN_CONTRAST = 4.5
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
    if not current_frontdesk.provides(Engine):
        return
    engine = service(Engine)  # type: ignore[type-abstract]
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


def check_sms() -> Iterator[Finding]:
    names = ("SMS_ACCOUNT_SID", "SMS_AUTH_TOKEN", "SMS_PHONE_NUMBER")
    missing = [name for name in names if not current_frontdesk.settings.top_level(name)]
    if missing:
        text = f"No SMS can be sent. To send SMS, set {', '.join(missing)}."
        yield Finding("sms", "warning", text)
    elif command := missing_extra("sms"):
        text = f"SMS is configured, and its extra is not installed. Run `{command}`."
        yield Finding("sms", "fault", text)


def check_brand() -> Iterator[Finding]:
    contrast = service(Templates).brand.contrast
    if contrast < MIN_CONTRAST:
        text = (
            f"The text of buttons in emails has a contrast of {contrast:.1f}, and readable text has"
            f" at least {MIN_CONTRAST}. Leave BRAND__TEXT_COLOR empty, or set another BRAND__COLOR."
        )
        yield Finding("brand", "warning", text)


def check_outbox_folder() -> Iterator[Finding]:
    mailer = service(Mailer)  # type: ignore[type-abstract]
    if isinstance(mailer, FolderMailer):
        yield from find_exposed_folder(mailer.folder)


def find_lag(noun: str, since: datetime | None) -> Iterator[Finding]:
    """Find a delivery or a broadcast that waits too long."""
    if since is None or (age := current_frontdesk.clock.now() - since) <= LONGEST_WAIT:
        return
    minutes = int(age.total_seconds() // 60)
    text = (
        f"The oldest {noun} has waited for {minutes} minutes. Check that a worker runs and that"
        " the mail server responds; `flask notifications status` shows the queue."
    )
    yield Finding("worker_lag", "fault", text)


def check_delivery_lag() -> Iterator[Finding]:
    context = current_frontdesk
    # The check of the migrations reports a missing table.
    if context.provides(Outbox) and inspect(context.db.engine).has_table(Delivery.__tablename__):
        yield from find_lag("delivery", oldest_pending(context.session))


CHECKS = (
    Check(check_mail_settings),
    Check(check_brand),
    Check(check_sms),
    Check(check_outbox_folder),
    Check(check_delivery_lag, "database"),
    Check(check_mail_server, "servers"),
    Check(check_broker, "servers"),
)
