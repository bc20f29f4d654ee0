"""What every way of sending letters has, whichever of them is set up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from .mime import MimeMessage, Writer

Before = Callable[[], None]


# Called with each email that was sent.
SendResult = Callable[[MimeMessage], None]


def nothing(*_: object) -> None:
    return None


class MailConnection(Protocol):
    """An open way to send, for one letter after the other."""

    def send(self, letter: MimeMessage, before: Before = nothing) -> None:
        """Returns when it has left; raises one of errors.py when it has not.

        `before` is called before the email is handed over, and again before a second attempt.
        """


class Mailer(Protocol):
    @property
    def writer(self) -> Writer: ...

    @property
    def off(self) -> str | None:
        """Why nothing can leave this way, or nothing."""

    @property
    def sent(self) -> SendResult: ...

    def open(self) -> AbstractContextManager[MailConnection]:
        """Raises `Unreachable` where there is a server and it cannot be used."""
