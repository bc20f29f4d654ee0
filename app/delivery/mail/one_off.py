"""Transactional emails, such as password recovery, which never wait behind a broadcast.

The queue is in memory only: these emails carry tokens, which are stored nowhere in readable form.
A killed process loses its queue, and the users request their emails again.
"""

from __future__ import annotations

import atexit
import logging
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Protocol

from ...core.process.servers import after_fork
from ...core.request import note_effect
from ..errors import Refused, RefusedAtReceiver, SwitchedOff, TryLater, Unreachable
from ..message import Email
from ..worker.background import Background
from .base import MailConnection, Mailer
from .mime import MimeMessage, one_line

log = logging.getLogger(__name__)

RETRY_AFTER = (2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 60.0, 60.0)
MAX_QUEUED = 10_000
SHUTDOWN_SECONDS = 5.0


class OneOffMail(Protocol):
    def send_soon(self, email: Email) -> None:
        """Queue an email, which is sent soon, with retries. The caller never waits."""


@dataclass(frozen=True)
class OwnerMail:
    """Emails to the owner of an account: emails that are always sent, and security notices."""

    one_off_mail: OneOffMail
    # AUTH.SECURITY_MAILS.
    sends_notices: bool

    def send_soon(self, email: Email) -> None:
        self.one_off_mail.send_soon(email)

    def notify(self, email: Email) -> None:
        if self.sends_notices:
            self.one_off_mail.send_soon(email)


@dataclass
class _QueuedEmail:
    message: MimeMessage
    attempts: int = 0
    due: float = 0.0


class BackgroundMail:
    """Sends emails from a thread, with retries."""

    def __init__(self, mailer: Mailer, now: Callable[[], datetime]) -> None:
        self.mailer = mailer
        self._now = now
        self._background = Background("frontdesk-mail", self._send_due)
        self._reset()
        after_fork(self._reset)
        _instances.add(self)

    def _reset(self) -> None:
        """Empty the queue. In a forked process, the parent sends the queued emails."""
        self._lock = Lock()
        self._queue: deque[_QueuedEmail] = deque()
        self._sending = 0

    def send_soon(self, email: Email) -> None:
        try:
            message = self.mailer.writer.write(email, self._now())
        except Refused as error:
            log.error("No email to %r, '%s': %s", email.to, one_line(email.subject), error)
            return
        note_effect()
        with self._lock:
            if len(self._queue) >= MAX_QUEUED:
                log.error("Too many queued emails: the email to %s is dropped", message.to)
                return
            self._queue.append(_QueuedEmail(message))
        self._background.wake()

    def flush(self, seconds: float) -> bool:
        """Wait for the first attempt of all queued emails. Return False after these seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with self._lock:
                if not self._sending and not any(not mail.attempts for mail in self._queue):
                    return True
            time.sleep(0.01)
        return False

    def _send_due(self) -> float | None:
        due = self._take_due()
        if due:
            try:
                self._send(due)
            finally:
                with self._lock:
                    self._sending = 0
        with self._lock:
            if not self._queue:
                return None
            return max(0.0, min(mail.due for mail in self._queue) - time.monotonic())

    def _take_due(self) -> deque[_QueuedEmail]:
        now = time.monotonic()
        with self._lock:
            due = deque(mail for mail in self._queue if mail.due <= now)
            self._queue = deque(mail for mail in self._queue if mail.due > now)
            self._sending = len(due)
        return due

    def _send(self, due: deque[_QueuedEmail]) -> None:
        """Send over one connection. If it breaks, the remaining emails are retried later."""
        reason = "unknown"
        try:
            with self.mailer.open() as connection:
                while due:
                    self._send_one(connection, due[0])
                    due.popleft()
        except Unreachable as error:
            reason = error.reason
        except Exception as error:
            log.exception("Sending an email failed")
            reason = type(error).__name__
        for mail in due:
            self._try_later(mail, reason)

    def _send_one(self, connection: MailConnection, mail: _QueuedEmail) -> None:
        message = mail.message
        try:
            connection.send(message)
        except Refused as error:
            log.error(
                "Refused: the email to %s, '%s': %s", message.to, one_line(message.subject), error
            )
        except SwitchedOff:
            pass
        except (TryLater, RefusedAtReceiver) as error:
            self._try_later(mail, error.reason)

    def _try_later(self, mail: _QueuedEmail, reason: str) -> None:
        to, subject = mail.message.to, one_line(mail.message.subject)
        if mail.attempts >= len(RETRY_AFTER):
            log.error("Given up: the email to %s, '%s': %s", to, subject, reason)
            return
        log.warning("Will retry the email to %s, '%s': %s", to, subject, reason)
        mail.due = time.monotonic() + RETRY_AFTER[mail.attempts]
        mail.attempts += 1
        with self._lock:
            self._queue.append(mail)


_instances: weakref.WeakSet[BackgroundMail] = weakref.WeakSet()


@atexit.register
def _flush_at_exit() -> None:
    """Send the emails of the last requests before the server stops."""
    until = time.monotonic() + SHUTDOWN_SECONDS
    for mail in list(_instances):
        mail.flush(max(0.0, until - time.monotonic()))
