"""Where emails are sent to: an SMTP server, a folder of `.eml` files, or nowhere."""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from flask import Flask

from ...core.config.environment import SettingsError
from ...core.config.settings import LoadedSettings
from ...core.process.folders import make_private_folder, private
from ..errors import Refused, SwitchedOff
from .base import BeforeSend, Mailer, OnSent, do_nothing
from .mime import MimeMessage, Writer, one_line
from .settings import MailSettings

log = logging.getLogger(__name__)


def open_mailer(app: Flask, settings: LoadedSettings) -> Mailer:
    mail = MailSettings.read(app.config, settings)
    writer, on_sent = _writer(mail), partial(_emit_dispatched, app, mail)
    if mail.suppress_send or not settings.core.EMAILS_ENABLED:
        return NoMailer(writer, on_sent)
    if not mail.server:
        return FolderMailer(writer, Path(app.instance_path) / "outbox", on_sent)
    from .smtp import SmtpMailer

    return SmtpMailer(mail, on_sent=on_sent)


def _writer(mail: MailSettings) -> Writer:
    name = "MAIL_DEFAULT_SENDER"
    try:
        Writer(mail.default_sender)
        name = "MAIL_REPLY_TO"
        return Writer(mail.default_sender, mail.reply_to)
    except Refused:
        raise SettingsError(f"{name} is not a valid email address.") from None


def _emit_dispatched(app: Flask, mail: MailSettings, message: MimeMessage) -> None:
    """Emit Flask-Mail's `email_dispatched`, so that an application's tests and logs see the email.

    The `flask_mail.Message` is created only if a listener exists.
    """
    # A listener has imported flask_mail.
    flask_mail = sys.modules.get("flask_mail")
    email = message.email
    if email is None or flask_mail is None or not flask_mail.email_dispatched.receivers:
        return
    try:
        with app.app_context():
            dispatched = flask_mail.Message(
                email.subject,
                recipients=[email.to],
                body=email.text,
                html=email.html or None,
                sender=mail.default_sender,
                reply_to=mail.reply_to,
                date=time.time(),
            )
            dispatched.msgId = message.message_id
            flask_mail.email_dispatched.send(app, message=dispatched)
    except Exception:
        # The email is sent: the failure of a listener must not cause a retry.
        log.exception("A listener to Flask-Mail's email_dispatched failed")


class NoMailer:
    disabled_reason: str | None = "Emails are disabled"

    def __init__(self, writer: Writer, on_sent: OnSent = do_nothing) -> None:
        self.writer = writer
        self.on_sent = on_sent

    @contextmanager
    def open(self) -> Iterator[NoMailer]:
        yield self

    def send(self, message: MimeMessage, before_send: BeforeSend = do_nothing) -> None:
        log.warning(
            "Emails are disabled (CORE.EMAILS_ENABLED): no email is sent to %s, '%s'.",
            message.to,
            one_line(message.subject),
        )
        # Flask-Mail also emits the signal for suppressed emails, which tests record.
        self.on_sent(message)
        raise SwitchedOff("Emails are disabled")


class FolderMailer:
    """Without a configured server, each email is written to a file that a mail program opens."""

    disabled_reason: str | None = None

    def __init__(self, writer: Writer, folder: Path, on_sent: OnSent = do_nothing) -> None:
        self.writer = writer
        self.folder = folder
        self.on_sent = on_sent

    @contextmanager
    def open(self) -> Iterator[FolderMailer]:
        make_private_folder(self.folder)
        yield self

    def send(self, message: MimeMessage, before_send: BeforeSend = do_nothing) -> None:
        before_send()
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}.eml"
        path = self.folder / name
        unfinished = path.with_suffix(".part")
        # A recovery email gives access to an account, so only the server's user reads the file.
        with open(unfinished, "xb", opener=private) as file:
            file.write(message.data)
        unfinished.rename(path)
        log.info(
            "No MAIL_SERVER is set: the email to %s, '%s', is in %s",
            message.to,
            one_line(message.subject),
            path,
        )
        self.on_sent(message)
