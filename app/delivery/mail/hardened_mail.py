"""Flask-Mail's `Mail` for the application's messages, over Frontdesk's connection.

Flask-Mail's connection has no time limits, checks no certificates, and accepts Unicode line breaks
in headers.
"""

from __future__ import annotations

import logging
import re
import smtplib
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.utils import parseaddr
from types import TracebackType

from flask import Flask
from flask_mail import BadHeaderError, Connection, Mail, Message, email_dispatched

from ..errors import DeliveryError, Refused, RefusedAtReceiver, TryLater
from .base import MailConnection, Mailer
from .mime import MimeMessage, to_ascii
from .settings import MailSettings

log = logging.getLogger(__name__)

Mailbox = str | tuple[str, str]


class HardenedMail(Mail):
    def __init__(self, app: Flask, mailer: Mailer, mail: MailSettings) -> None:
        super().__init__()
        self.app = app
        self._mailer = mailer
        config = app.config | mail.as_config()
        if mailer.disabled_reason is not None:
            config["MAIL_SUPPRESS_SEND"] = True
        self.state = self.init_mail(config, app.debug, app.testing)

    def connect(self) -> Connection:
        assert self.app is not None
        return HardenedConnection(self, self.app, self._mailer)


class HardenedConnection(Connection):
    def __init__(self, mail: Mail, app: Flask, mailer: Mailer) -> None:
        super().__init__(mail)
        self._app = app
        self._mailer = mailer
        self._stack = ExitStack()
        self._connection: MailConnection | None = None

    def __enter__(self) -> HardenedConnection:
        if not self.mail.suppress:
            with _as_smtplib():
                self._connection = self._stack.enter_context(self._mailer.open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def send(self, message: Message, envelope_from: Mailbox | None = None) -> None:
        """Send a separate copy to each receiver. Raise `smtplib.SMTPException` if all fail."""
        if not message.send_to:
            raise AssertionError("No recipients have been added")
        if message.has_bad_headers() or any(map(_has_line_break, _headers(message))):
            raise BadHeaderError
        if message.date is None:
            message.date = time.time()
        if self._connection is not None:
            with _as_smtplib():
                self._send(self._connection, message, envelope_from or message.sender)
        email_dispatched.send(self._app, message=message)
        self.num_emails += 1

    def _send(self, connection: MailConnection, message: Message, sender: Mailbox) -> None:
        # SMTP accepts only CRLF as a line break.
        data = re.sub(rb"\r\n|\r|\n", b"\r\n", message.as_bytes())
        data = data if data.endswith(b"\r\n") else data + b"\r\n"
        from_address, refusals = _address(sender), []
        receivers = sorted({_address(each) for each in message.send_to})
        for to in receivers:
            utf8 = not (to + from_address).isascii()
            try:
                connection.send(MimeMessage(from_address, to, message.subject, data, utf8))
            except (Refused, RefusedAtReceiver, TryLater) as error:
                log.error("The email to %s, %r, is refused: %s", to, message.subject, error)
                refusals.append(error)
        if len(refusals) == len(receivers):
            raise refusals[0]


@contextmanager
def _as_smtplib() -> Iterator[None]:
    """Raise errors as Flask-Mail does."""
    try:
        yield
    except DeliveryError as error:
        raise smtplib.SMTPException(error.reason) from error


def _address(mailbox: Mailbox) -> str:
    return to_ascii(mailbox[1] if isinstance(mailbox, tuple) else parseaddr(mailbox)[1])


def _headers(message: Message) -> Iterator[object]:
    """Yield all values of the message that are written into headers."""
    # Flask-Mail allows a folded subject.
    yield re.sub(r"\r\n(?=[ \t])", "", str(message.subject or ""))
    for mailbox in (message.sender, message.reply_to, *message.send_to):
        yield from mailbox if isinstance(mailbox, tuple) else (mailbox,)
    yield from (message.msgId, message.charset)
    yield from (part for pair in (message.extra_headers or {}).items() for part in pair)
    for attachment in message.attachments:
        yield from (attachment.filename, attachment.content_type, attachment.disposition)
        yield from (part for pair in attachment.headers.items() for part in pair)


def _has_line_break(value: object) -> bool:
    """Return whether a mail program could find a line break in the value."""
    text = "" if value is None else str(value)
    return "\0" in text or text.splitlines() != [text] * bool(text)
