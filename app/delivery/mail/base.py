"""The protocols of mailers: SMTP, a folder, or none."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from .mime import MimeMessage, Writer

BeforeSend = Callable[[], None]
# Called with each email that was sent.
OnSent = Callable[[MimeMessage], None]


def do_nothing(*_: object) -> None:
    return None


class MailConnection(Protocol):
    """A connection for several emails, one after the other."""

    def send(self, message: MimeMessage, before_send: BeforeSend = do_nothing) -> None:
        """Return when the email is sent; raise an error of errors.py if it is not.

        `before_send` is called before the email is handed over, and again before a second attempt.
        """


class Mailer(Protocol):
    @property
    def writer(self) -> Writer: ...

    @property
    def disabled_reason(self) -> str | None:
        """Why no email can be sent, or None."""

    @property
    def on_sent(self) -> OnSent: ...

    def open(self) -> AbstractContextManager[MailConnection]:
        """Raise `Unreachable` if a server is configured and cannot be used."""
