"""Where letters go: to an SMTP server, to a folder of `.eml` files, or nowhere."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask

from ...core.config.environment import SettingsError
from ...core.config.settings import LoadedSettings
from ...core.process.folders import make_private_folder, private
from ..errors import Refused, SwitchedOff
from .announcing import Announcer
from .base import Before, Mailer, SendResult, nothing
from .mime import MimeMessage, Writer, one_line
from .settings import MailSettings

log = logging.getLogger(__name__)


def open_mailer(app: Flask, settings: LoadedSettings) -> Mailer:
    mail = MailSettings.read(app.config, settings)
    writer, sent = _writer(mail), Announcer(app, mail)
    if mail.suppress_send or not settings.core.EMAILS_ENABLED:
        return NoMailer(writer, sent)
    if not mail.server:
        return FolderMailer(writer, Path(app.instance_path) / "outbox", sent)
    from .smtp import SmtpMailer

    return SmtpMailer(mail, sent=sent)


def _writer(mail: MailSettings) -> Writer:
    name = "MAIL_DEFAULT_SENDER"
    try:
        Writer(mail.default_sender)
        name = "MAIL_REPLY_TO"
        return Writer(mail.default_sender, mail.reply_to)
    except Refused:
        raise SettingsError(f"{name} is not an address that a mail can have.") from None


class NoMailer:
    off: str | None = "Mails are switched off"

    def __init__(self, writer: Writer, sent: SendResult = nothing) -> None:
        self.writer = writer
        self.sent = sent

    @contextmanager
    def open(self) -> Iterator[NoMailer]:
        yield self

    def send(self, letter: MimeMessage, before: Before = nothing) -> None:
        log.warning(
            "Mails are switched off (CORE.EMAILS_ENABLED): none leaves to %s, '%s'.",
            letter.to,
            one_line(letter.subject),
        )
        # As Flask-Mail does where nothing is to leave: tests record it all the same.
        self.sent(letter)
        raise SwitchedOff("Mails are switched off")


class FolderMailer:
    """No server is configured: every letter becomes a file that a mail program opens."""

    off: str | None = None

    def __init__(self, writer: Writer, folder: Path, sent: SendResult = nothing) -> None:
        self.writer = writer
        self.folder = folder
        self.sent = sent

    @contextmanager
    def open(self) -> Iterator[FolderMailer]:
        make_private_folder(self.folder)
        yield self

    def send(self, letter: MimeMessage, before: Before = nothing) -> None:
        before()
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}.eml"
        path = self.folder / name
        unfinished = path.with_suffix(".part")
        # A recovery email opens an account.
        with open(unfinished, "xb", opener=private) as file:
            file.write(letter.data)
        unfinished.rename(path)
        log.info(
            "No MAIL_SERVER is set: the mail to %s, '%s', is in %s",
            letter.to,
            one_line(letter.subject),
            path,
        )
        self.sent(letter)
