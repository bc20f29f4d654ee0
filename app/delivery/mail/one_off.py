"""The lane for one-off mail, such as a recovery: it never waits behind a broadcast.

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
from ..errors import Refused, RefusedAtReceiver, SwitchedOff, TryLater, Unreachable
from ..message import Email
from ..worker.background import Background
from .base import MailConnection, Mailer
from .mime import MimeMessage, one_line

log = logging.getLogger(__name__)

RETRY_AFTER = (2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 60.0, 60.0)
MOST_WAITING = 10_000
LEAVING_SECONDS = 5.0


class OneOffMail(Protocol):
    def send_soon(self, email: Email) -> None:
        """Hand a mail over. It leaves shortly, or is tried again; the caller never waits for it."""


@dataclass(frozen=True)
class OwnerMail:
    """Emails to the owner of an account: those that are always sent, and security notices."""

    one_off_mail: OneOffMail
    # AUTH.SECURITY_MAILS.
    sends_notices: bool

    def send_soon(self, email: Email) -> None:
        self.one_off_mail.send_soon(email)

    def notify(self, email: Email) -> None:
        if self.sends_notices:
            self.one_off_mail.send_soon(email)


class NoMail:
    """Sends nothing: for actions without a notice."""

    def send_soon(self, email: Email) -> None:
        pass


@dataclass
class _QueuedEmail:
    letter: MimeMessage
    attempts: int = 0
    due: float = 0.0


class BackgroundMail:
    """Sends from a thread, each mail several times if need be."""

    def __init__(self, mailer: Mailer, now: Callable[[], datetime]) -> None:
        self.mailer = mailer
        self._now = now
        self._background = Background("frontdesk-mail", self._round)
        self._reset()
        after_fork(self._reset)
        _lanes.add(self)

    def _reset(self) -> None:
        """In a forked process: what waits is the parent's to send."""
        self._lock = Lock()
        self._waiting: deque[_QueuedEmail] = deque()
        self._in_hand = 0

    def send_soon(self, email: Email) -> None:
        try:
            letter = self.mailer.writer.write(email, self._now())
        except Refused as error:
            log.error("No mail to %r, '%s': %s", email.to, one_line(email.subject), error)
            return
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                log.error("Too many mails wait: the one to %s is dropped", letter.to)
                return
            self._waiting.append(_QueuedEmail(letter))
        self._background.wake()

    def flush(self, seconds: float) -> bool:
        """Wait until all that wait for their first attempt have had it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with self._lock:
                if not self._in_hand and not any(not mail.attempts for mail in self._waiting):
                    return True
            time.sleep(0.01)
        return False

    def _round(self) -> float | None:
        due = self._take_due()
        if due:
            try:
                self._send(due)
            finally:
                with self._lock:
                    self._in_hand = 0
        with self._lock:
            if not self._waiting:
                return None
            return max(0.0, min(mail.due for mail in self._waiting) - time.monotonic())

    def _take_due(self) -> deque[_QueuedEmail]:
        now = time.monotonic()
        with self._lock:
            due = deque(mail for mail in self._waiting if mail.due <= now)
            self._waiting = deque(mail for mail in self._waiting if mail.due > now)
            self._in_hand = len(due)
        return due

    def _send(self, due: deque[_QueuedEmail]) -> None:
        """Over one connection, until it breaks: then all that are left are tried later."""
        reason = "unknown"
        try:
            with self.mailer.open() as connection:
                while due:
                    self._send_one(connection, due[0])
                    due.popleft()
        except Unreachable as error:
            reason = error.reason
        except Exception as error:
            log.exception("Sending a mail failed")
            reason = type(error).__name__
        for mail in due:
            self._try_later(mail, reason)

    def _send_one(self, connection: MailConnection, mail: _QueuedEmail) -> None:
        letter = mail.letter
        try:
            connection.send(letter)
        except Refused as error:
            log.error(
                "Refused: the mail to %s, '%s': %s", letter.to, one_line(letter.subject), error
            )
        except SwitchedOff:
            pass
        except (TryLater, RefusedAtReceiver) as error:
            self._try_later(mail, error.reason)

    def _try_later(self, mail: _QueuedEmail, reason: str) -> None:
        to, subject = mail.letter.to, one_line(mail.letter.subject)
        if mail.attempts >= len(RETRY_AFTER):
            log.error("Given up: the mail to %s, '%s': %s", to, subject, reason)
            return
        log.warning("Will retry the email to %s, '%s': %s", to, subject, reason)
        mail.due = time.monotonic() + RETRY_AFTER[mail.attempts]
        mail.attempts += 1
        with self._lock:
            self._waiting.append(mail)


_lanes: weakref.WeakSet[BackgroundMail] = weakref.WeakSet()


@atexit.register
def _send_the_rest() -> None:
    """A server that stops in good order lets the mails of its last requests out."""
    until = time.monotonic() + LEAVING_SECONDS
    for lane in list(_lanes):
        lane.flush(max(0.0, until - time.monotonic()))
