"""Letters over SMTP, many on one connection, with a limit on every wait.

A server that ends a connection after so many letters is connected to again, and nobody waits.

Flask-Mail gives the names of the settings, but its connection waits for a silent server for ever
and does not check a certificate; so the connection is our own.
"""

from __future__ import annotations

import logging
import smtplib
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

from .errors import Deferred, Refused, Unreachable
from .mailer import Before, MailSettings, nothing
from .mime import Letter, Writer

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 20.0
# The server may look a message over before it takes it.
ACCEPT_SECONDS = 30.0

_CLOSING = 421
_GO_ON = 354
_NO_LOGIN = (530, 534, 535, 538)


class SmtpMailer:
    off: str | None = None

    def __init__(self, mail: MailSettings) -> None:
        self.mail = mail
        self.writer = Writer(mail.sender)

    @contextmanager
    def open(self) -> Iterator[SmtpConnection]:
        connection = SmtpConnection(self._connect)
        try:
            yield connection
        finally:
            connection.leave()

    def _connect(self) -> smtplib.SMTP:
        try:
            client = self._dial()
        except (OSError, UnicodeError, smtplib.SMTPException) as error:
            # UnicodeError: a name that no server can have, such as one with two dots in a row.
            raise Unreachable(f"The mail server cannot be reached: {_told(error)}") from error
        try:
            self._introduce(client)
        except (OSError, smtplib.SMTPException) as error:
            client.close()
            raise Unreachable(f"The mail server lets us not in: {_told(error)}") from error
        return client

    def _dial(self) -> smtplib.SMTP:
        mail = self.mail
        # Our own name, so that no name server is asked for it.
        name = socket.gethostname()
        if mail.use_ssl:
            return smtplib.SMTP_SSL(
                mail.server,
                mail.port,
                local_hostname=name,
                timeout=CONNECT_SECONDS,
                context=self._certificates,
            )
        return smtplib.SMTP(mail.server, mail.port, local_hostname=name, timeout=CONNECT_SECONDS)

    def _introduce(self, client: smtplib.SMTP) -> None:
        client.ehlo_or_helo_if_needed()
        if self.mail.use_tls and not self.mail.use_ssl:
            client.starttls(context=self._certificates)
            client.ehlo_or_helo_if_needed()
        if self.mail.username and self.mail.password:
            client.login(self.mail.username, self.mail.password)

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        return ssl.create_default_context()


class Command(NamedTuple):
    # Of what a refusal is told.
    what: str
    line: str
    # The first digit of an answer that lets us go on.
    good: int = 2


class SmtpConnection:
    def __init__(self, connect: Callable[[], smtplib.SMTP]) -> None:
        self._connect = connect
        self._client = connect()
        # Not before a letter: a server that takes none at all is away.
        self._may_reconnect = False

    def send(self, letter: Letter, before: Before = nothing) -> None:
        try:
            self._offer_surely(letter, before)
            self._wait(ACCEPT_SECONDS)
            self._client.send(_ended(letter.data))
            self._expect("message", self._client.getreply())
        except (Refused, Deferred):
            self._may_reconnect = True
            raise
        except (OSError, smtplib.SMTPException) as error:
            self._client.close()
            raise Unreachable(f"The mail server went away: {_told(error)}") from error
        except BaseException:
            # The next letter must not be taken for the rest of this one.
            self._client.close()
            self._may_reconnect = True
            raise
        self._may_reconnect = True

    def leave(self) -> None:
        try:
            self._wait(1.0)
            self._client.quit()
        except (OSError, smtplib.SMTPException):
            self._client.close()

    def _offer_surely(self, letter: Letter, before: Before) -> None:
        try:
            self._offer(letter, before)
        except (OSError, smtplib.SMTPException):
            if not self._may_reconnect:
                raise
            self._client.close()
            self._client = self._connect()
            self._may_reconnect = False
            self._offer(letter, before)

    def _offer(self, letter: Letter, before: Before) -> None:
        """Until the server waits for the letter itself: so far nothing has left."""
        client = self._client
        if letter.utf8 and not client.has_extn("smtputf8"):
            raise Refused("The mail server takes no addresses beyond ASCII")
        # The addresses are known to be fit to be sent: smtplib's own methods parse them anew.
        client.command_encoding = "utf-8" if letter.utf8 else "ascii"
        options = " SMTPUTF8 BODY=8BITMIME" if letter.utf8 else ""
        self._wait(COMMAND_SECONDS)
        commands = (
            Command("sender", f"MAIL FROM:<{letter.sender}>{options}"),
            Command("receiver", f"RCPT TO:<{letter.to}>"),
            Command("message", "DATA", good=3),
        )
        if client.has_extn("pipelining"):
            self._announce_at_once(commands, before)
        else:
            self._announce(commands, before)

    def _announce(self, commands: Iterable[Command], before: Before) -> None:
        for command in commands:
            self._client.putcmd(command.line)
            if command.what == "sender":
                # While the server looks at it.
                before()
            self._expect(command.what, self._client.getreply(), command.good)

    def _announce_at_once(self, commands: Iterable[Command], before: Before) -> None:
        """All answers are waited for together: over a network that waiting is most of the time
        that a mail takes."""
        client = self._client
        client.send("".join(f"{command.line}\r\n" for command in commands))
        before()
        answers = []
        for command in commands:
            answers.append((command, client.getreply()))
            if answers[-1][1][0] == _CLOSING:
                break
        if answers[-1][1][0] == _GO_ON and any(answer[0] >= 400 for _, answer in answers):
            # The server waits for a message that has nobody to go to.
            client.send(".\r\n")
            client.getreply()
        for command, answer in answers:
            self._expect(command.what, answer, command.good)

    def _expect(self, what: str, answer: tuple[int, bytes], good: int = 2) -> None:
        code, text = answer
        if code // 100 == good:
            return
        reason = f"{what}: {code} {text.decode('utf-8', 'replace')}"
        if code in (_CLOSING, -1):
            raise smtplib.SMTPServerDisconnected(reason)
        if what == "sender" and code in _NO_LOGIN:
            raise Unreachable(reason)
        try:
            self._client.rset()
        except (OSError, smtplib.SMTPException):
            # It is said all the same, though the server hangs up.
            self._client.close()
        raise Refused(reason) if code >= 500 else Deferred(reason)

    def _wait(self, seconds: float) -> None:
        if self._client.sock is not None:
            self._client.sock.settimeout(seconds)


def _ended(data: bytes) -> bytes:
    """As the protocol has it: a line that begins with a dot gets another, and one alone ends."""
    if data.startswith(b"."):
        data = b"." + data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"


def _told(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_bytes(error.smtp_error).decode('utf-8', 'replace')}"
    return str(error) or type(error).__name__


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
