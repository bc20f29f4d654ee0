"""An authenticated SMTP connection that sends several emails.

If the server closes the connection after some emails, it is opened again without a pause.
"""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from ..errors import DeliveryError, Refused, RefusedAtReceiver, SenderRefused, TryLater
from .base import BeforeSend, OnSent, do_nothing
from .mime import MimeMessage
from .smtp_errors import Reply, lost_connection, reply_error

_CLOSING = 421
_GO_ON = 354


class Timeouts(NamedTuple):
    """The server's time limits in seconds."""

    connect: float = 10.0
    command: float = 20.0
    # The server may scan a message before it accepts it.
    accept: float = 30.0


DEFAULT_TIMEOUTS = Timeouts()


class Command(NamedTuple):
    # What the command is about, for error messages.
    about: str
    line: str
    # The first digit of a successful reply.
    success: int = 2


class SmtpConnection:
    def __init__(
        self,
        timeouts: Timeouts,
        connect: Callable[[], smtplib.SMTP],
        on_sent: OnSent = do_nothing,
        on_refused: Callable[[SenderRefused], None] = do_nothing,
    ) -> None:
        self._timeouts = timeouts
        self._connect = connect
        self._on_sent = on_sent
        # Called when the server rejects the sender.
        self._on_refused = on_refused
        self._client = connect()
        # Only after an email: a server that closes new connections at once is unavailable.
        self._may_reconnect = False

    def send(self, message: MimeMessage, before_send: BeforeSend = do_nothing) -> None:
        try:
            self._offer_or_reconnect(message, before_send)
            self._set_timeout(self._timeouts.accept)
            self._client.send(_dot_stuffed(message.data))
            self._expect("message", self._client.getreply())
        except DeliveryError as error:
            self._may_reconnect = True
            if isinstance(error, SenderRefused) and not isinstance(error, RefusedAtReceiver):
                self._on_refused(error)
            raise
        except (OSError, smtplib.SMTPException) as error:
            self._client.close()
            raise lost_connection(error) from error
        except BaseException:
            # The server would read the next email as the rest of this one.
            self._client.close()
            self._may_reconnect = True
            raise
        self._may_reconnect = True
        self._on_sent(message)

    def check_sender(self, sender: str) -> None:
        """Start an email to the sender and cancel it: the server rejects a wrong sender or client
        by then. Replies about the receiver are ignored."""
        self._set_timeout(self._timeouts.command)
        commands = (
            Command("sender", f"MAIL FROM:<{sender}>"),
            Command("receiver", f"RCPT TO:<{sender}>"),
        )
        try:
            with suppress(Refused, TryLater):
                self._send_commands(commands, do_nothing)
        except (OSError, smtplib.SMTPException) as error:
            raise lost_connection(error) from error

    def __enter__(self) -> SmtpConnection:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._set_timeout(1.0)
            self._client.quit()
        except (OSError, smtplib.SMTPException):
            self._client.close()

    def _offer_or_reconnect(self, message: MimeMessage, before_send: BeforeSend) -> None:
        try:
            self._offer(message, before_send)
        except (OSError, smtplib.SMTPException):
            if not self._may_reconnect:
                raise
            self._client.close()
            self._client = self._connect()
            self._may_reconnect = False
            self._offer(message, before_send)

    def _offer(self, message: MimeMessage, before_send: BeforeSend) -> None:
        """Send the envelope, until the server waits for the message itself."""
        client = self._client
        if message.utf8 and not client.has_extn("smtputf8"):
            raise Refused("The mail server accepts only ASCII addresses")
        # The email addresses are checked already: smtplib's own methods would parse them again.
        client.command_encoding = "utf-8" if message.utf8 else "ascii"
        options = " SMTPUTF8 BODY=8BITMIME" if message.utf8 else ""
        if not message.utf8 and not message.data.isascii() and client.has_extn("8bitmime"):
            options = " BODY=8BITMIME"
        self._set_timeout(self._timeouts.command)
        commands = (
            Command("sender", f"MAIL FROM:<{message.sender}>{options}"),
            Command("receiver", f"RCPT TO:<{message.to}>"),
            Command("message", "DATA", success=3),
        )
        if client.has_extn("pipelining"):
            self._pipeline(commands, before_send)
        else:
            self._send_commands(commands, before_send)

    def _send_commands(self, commands: Iterable[Command], before_send: BeforeSend) -> None:
        for command in commands:
            self._client.putcmd(command.line)
            if command.about == "sender":
                # The server checks the sender at the same time.
                before_send()
            self._expect(command.about, self._client.getreply(), command.success)

    def _pipeline(self, commands: Iterable[Command], before_send: BeforeSend) -> None:
        """Send all commands at once and wait for all replies together, since over a network most
        of an email's time is waiting."""
        client = self._client
        client.send("".join(f"{command.line}\r\n" for command in commands))
        before_send()
        replies = []
        for command in commands:
            replies.append((command, client.getreply()))
            if replies[-1][1][0] == _CLOSING:
                break
        if replies[-1][1][0] == _GO_ON and any(reply[0] >= 400 for _, reply in replies):
            # The server waits for a message without any receiver.
            client.send(".\r\n")
            client.getreply()
        for command, reply in replies:
            self._expect(command.about, reply, command.success)

    def _expect(self, about: str, received: tuple[int, bytes], success: int = 2) -> None:
        reply = Reply.of(*received)
        if reply.code // 100 == success:
            return
        if reply.code in (_CLOSING, -1):
            raise smtplib.SMTPServerDisconnected(f"{about}: {reply}")
        try:
            self._client.rset()
        except (OSError, smtplib.SMTPException):
            # The connection is closed, but the reply is still reported.
            self._client.close()
        raise reply_error(about, reply)

    def _set_timeout(self, seconds: float) -> None:
        if self._client.sock is not None:
            self._client.sock.settimeout(seconds)


def _dot_stuffed(data: bytes) -> bytes:
    """Return the data with a second dot before each leading dot, and with the final dot."""
    if data.startswith(b"."):
        data = b"." + data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"
