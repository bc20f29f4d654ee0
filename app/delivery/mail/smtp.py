"""Emails over SMTP, with time limits for connecting, greeting and sending.

The names of the settings are those of Flask-Mail. Its connection has no time limits and does not
check certificates, so it is not used.
"""

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
from .base import OnSent, do_nothing
from .mime import MimeMessage, Writer
from .settings import MailSettings
from .smtp_connection import DEFAULT_TIMEOUTS, SmtpConnection, Timeouts
from .smtp_errors import connection_error, session_error

log = logging.getLogger(__name__)


class SmtpMailer:
    disabled_reason: str | None = None

    def __init__(
        self,
        mail: MailSettings,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        on_sent: OnSent = do_nothing,
    ) -> None:
        self.mail = mail
        self.writer = Writer(mail.default_sender, mail.reply_to)
        self.on_sent = on_sent
        self._timeouts = timeouts
        self._backoff = Backoff()
        self._last_refusal = "The mail server has just rejected the sender"

    @property
    def pause(self) -> float:
        """The seconds until the next attempt, after the server has rejected the sender."""
        return self._backoff.seconds_left

    @contextmanager
    def open(self) -> Iterator[SmtpConnection]:
        if self.pause:
            raise SenderRefused(self._last_refusal)
        try:
            connection = SmtpConnection(
                self._timeouts, self._connect, self._on_accepted, self._on_refused
            )
        except SenderRefused as error:
            self._on_refused(error)
            raise
        with connection:
            yield connection

    def probe(self) -> SmtpConnection:
        """Return a probe connection: its failures do not change the back-off state."""
        return SmtpConnection(self._timeouts, self._connect)

    def _on_accepted(self, message: MimeMessage) -> None:
        self._backoff.end()
        self.on_sent(message)

    def _on_refused(self, error: SenderRefused) -> None:
        self._last_refusal = error.reason
        log.error("%s. No email is sent for %.0f s.", error, self._backoff.grow())

    def _connect(self) -> smtplib.SMTP:
        try:
            client = self._open_client()
        except (OSError, UnicodeError, smtplib.SMTPException) as error:
            raise connection_error(error, self.mail) from error
        try:
            self._start_session(client)
        except (OSError, UnicodeError, smtplib.SMTPException) as error:
            client.close()
            raise session_error(error, self.mail) from error
        return client

    def _open_client(self) -> smtplib.SMTP:
        mail, seconds = self.mail, self._timeouts.connect
        # Without a name, smtplib queries a name server. `_start_session` sets the real name.
        if not mail.use_ssl:
            return smtplib.SMTP(mail.server, mail.port, "localhost", seconds)
        return smtplib.SMTP_SSL(
            mail.server, mail.port, "localhost", timeout=seconds, context=self._certificates
        )

    def _start_session(self, client: smtplib.SMTP) -> None:
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
    """Growing pauses after rejections, shared with forked processes. Servers lock out clients that
    repeat a wrong password."""

    def __init__(self) -> None:
        # The end of the pause, on the monotonic clock of the machine, and the length of the pause.
        self._shared = memoryview(mmap.mmap(-1, 16)).cast("d")

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._shared[0] - monotonic())

    def grow(self) -> float:
        """Lengthen the pause after another rejection, and return its seconds."""
        if self.seconds_left:
            # Another worker was rejected at the same time.
            return self.seconds_left
        pause = min(LONGEST_SECONDS, max(FIRST_SECONDS, 2 * self._shared[1]))
        self._shared[1] = pause
        self._shared[0] = monotonic() + pause
        return pause

    def end(self) -> None:
        self._shared[0] = self._shared[1] = 0.0


# The longest wait for a name server.
LOOKUP_SECONDS = 1.0

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_FULL = re.compile(rf"(?:{_LABEL}\.)+(?!\d+\Z|localdomain\Z){_LABEL}")


def local_name(configured: str | None, sender_domain: str, connection: socket) -> str:
    """Return the name for the greeting. Many servers reject names that are not fully qualified.

    The first available name is used: the configured name, the machine's fully qualified name, the
    sender's domain, the IP address of the connection.
    """
    name = configured or _machine_name()
    if name:
        return name
    return sender_domain if _is_full(sender_domain) else _literal(connection)


@cache
def _machine_name() -> str | None:
    names = [gethostname()]
    if not _is_full(names[0]):
        lookup = Thread(target=lambda: names.append(getfqdn()), daemon=True)
        lookup.start()
        lookup.join(LOOKUP_SECONDS)
    return names[-1] if _is_full(names[-1]) else None


def _is_full(name: str) -> bool:
    return len(name) <= 253 and _FULL.fullmatch(name) is not None


def _literal(connection: socket) -> str:
    address = connection.getsockname()[0]
    return f"[IPv6:{address}]" if connection.family == AF_INET6 else f"[{address}]"
