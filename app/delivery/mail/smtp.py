"""Letters over SMTP, with a limit on every wait: how the server is connected to and greeted.

Flask-Mail gives the names of the settings, but its connection waits for a silent server for ever
and does not check a certificate; so the connection is our own.
"""

from __future__ import annotations

import logging
import mmap
import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from socket import AF_INET6, getfqdn, gethostname, socket
from threading import Thread
from time import monotonic

from ..errors import SenderRefused
from .base import SendResult, nothing
from .mime import MimeMessage, Writer
from .settings import MailSettings
from .smtp_connection import USUAL_WAITS, SmtpConnection, Timeouts
from .smtp_faults import not_connected, not_let_in

log = logging.getLogger(__name__)


class SmtpMailer:
    off: str | None = None

    def __init__(
        self, mail: MailSettings, waits: Timeouts = USUAL_WAITS, sent: SendResult = nothing
    ) -> None:
        self.mail = mail
        self.writer = Writer(mail.default_sender, mail.reply_to)
        self.sent = sent
        self._waits = waits
        self._backoff = Backoff()
        self._last_refusal = "The mail server refused us a moment ago"

    @property
    def pause(self) -> float:
        """For how many seconds the server is left alone, because it refuses us."""
        return self._backoff.seconds_left

    @contextmanager
    def open(self) -> Iterator[SmtpConnection]:
        if self.pause:
            raise SenderRefused(self._last_refusal)
        try:
            connection = SmtpConnection(self._waits, self._connect, self._taken, self._refused)
        except SenderRefused as error:
            self._refused(error)
            raise
        with connection:
            yield connection

    def try_out(self) -> SmtpConnection:
        """A connection that nothing is learnt from, whether or not we were refused before."""
        return SmtpConnection(self._waits, self._connect)

    def _taken(self, letter: MimeMessage) -> None:
        self._backoff.end()
        self.sent(letter)

    def _refused(self, error: SenderRefused) -> None:
        self._last_refusal = error.reason
        log.error("%s. No mail is tried for %.0f s.", error, self._backoff.grow())

    def _connect(self) -> smtplib.SMTP:
        try:
            client = self._dial()
        except (OSError, UnicodeError, smtplib.SMTPException) as error:
            raise not_connected(error, self.mail) from error
        try:
            self._introduce(client)
        except (OSError, UnicodeError, smtplib.SMTPException) as error:
            client.close()
            raise not_let_in(error, self.mail) from error
        return client

    def _dial(self) -> smtplib.SMTP:
        mail, seconds = self.mail, self._waits.connect
        # Any name keeps smtplib from asking a name server for ours; it is set below.
        if not mail.use_ssl:
            return smtplib.SMTP(mail.server, mail.port, "localhost", seconds)
        return smtplib.SMTP_SSL(
            mail.server,
            mail.port,
            "localhost",
            timeout=seconds,
            context=self._certificates,
        )

    def _introduce(self, client: smtplib.SMTP) -> None:
        assert client.sock is not None
        client.local_hostname = local_name(
            self.mail.local_hostname, self.writer.domain, client.sock
        )
        client.ehlo_or_helo_if_needed()
        if self.mail.use_tls and not self.mail.use_ssl:
            client.starttls(context=self._certificates)
            client.ehlo_or_helo_if_needed()
        if self.mail.username and self.mail.password:
            client.login(self.mail.username, self.mail.password)

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        return ssl.create_default_context()


FIRST_SECONDS, LONGEST_SECONDS = 15.0, 1800.0


class Backoff:
    """Longer and longer pauses after refusals, shared by all processes that were forked from this
    one. Servers lock out clients that try a wrong password again and again."""

    def __init__(self) -> None:
        # Until when nothing is tried, on the clock that all processes share, and the last pause.
        self._shared = memoryview(mmap.mmap(-1, 16)).cast("d")

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._shared[0] - monotonic())

    def grow(self) -> float:
        """Lengthen the pause after another refusal, and return its seconds."""
        if self.seconds_left:
            # Another worker was refused at the same time.
            return self.seconds_left
        pause = min(LONGEST_SECONDS, max(FIRST_SECONDS, 2 * self._shared[1]))
        self._shared[1] = pause
        self._shared[0] = monotonic() + pause
        return pause

    def end(self) -> None:
        self._shared[0] = self._shared[1] = 0.0


# A name server that is away must not hold a letter back.
LOOKUP_SECONDS = 1.0

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_FULL = re.compile(rf"(?:{_LABEL}\.)+(?!\d+\Z|localdomain\Z){_LABEL}")


def local_name(chosen: str | None, sender_domain: str, connection: socket) -> str:
    """The name that we greet a mail server with: many refuse one that is not fully qualified.

    Return the configured name, or the machine's if it is fully qualified, or the sender's domain,
    or else the IP address that the server sees, unless a NAT translates it.
    """
    name = chosen or _name_of_this_machine()
    if name:
        return name
    return sender_domain if _is_full(sender_domain) else _literal(connection)


@cache
def _name_of_this_machine() -> str | None:
    names = [gethostname()]
    if not _is_full(names[0]):
        asking = Thread(target=lambda: names.append(getfqdn()), daemon=True)
        asking.start()
        asking.join(LOOKUP_SECONDS)
    return names[-1] if _is_full(names[-1]) else None


def _is_full(name: str) -> bool:
    return len(name) <= 253 and _FULL.fullmatch(name) is not None


def _literal(connection: socket) -> str:
    address = connection.getsockname()[0]
    return f"[IPv6:{address}]" if connection.family == AF_INET6 else f"[{address}]"
