"""One letter after the other to a server that has let us in.

A server that ends a connection after some emails is connected to again without a pause.
"""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from ..errors import DeliveryError, Refused, RefusedAtReceiver, SenderRefused, TryLater
from .base import Before, SendResult, nothing
from .mime import MimeMessage
from .smtp_faults import Reply, gone, refusal

_CLOSING = 421
_GO_ON = 354


class Timeouts(NamedTuple):
    """How many seconds the server has for what."""

    connect: float = 10.0
    command: float = 20.0
    # It may look a message over before it takes it.
    accept: float = 30.0


USUAL_WAITS = Timeouts()


class Command(NamedTuple):
    # What a refusal names.
    what: str
    line: str
    # The first digit of an answer that lets us go on.
    good: int = 2


class SmtpConnection:
    def __init__(
        self,
        waits: Timeouts,
        connect: Callable[[], smtplib.SMTP],
        sent: SendResult = nothing,
        refused: Callable[[SenderRefused], None] = nothing,
    ) -> None:
        self._waits = waits
        self._connect = connect
        self._sent = sent
        # Called when the server refuses the sender.
        self._refused = refused
        self._client = connect()
        # Not before a letter: a server that takes none at all is away.
        self._may_reconnect = False

    def send(self, letter: MimeMessage, before: Before = nothing) -> None:
        try:
            self._offer_surely(letter, before)
            self._wait(self._waits.accept)
            self._client.send(_ended(letter.data))
            self._expect("message", self._client.getreply())
        except DeliveryError as error:
            self._may_reconnect = True
            if isinstance(error, SenderRefused) and not isinstance(error, RefusedAtReceiver):
                self._refused(error)
            raise
        except (OSError, smtplib.SMTPException) as error:
            self._client.close()
            raise gone(error) from error
        except BaseException:
            # The next letter must not be taken for the rest of this one.
            self._client.close()
            self._may_reconnect = True
            raise
        self._may_reconnect = True
        self._sent(letter)

    def rehearse(self, sender: str) -> None:
        """Offer a letter from us to ourselves, and take it back: what the server has against us, it
        says by then. Whether there is such a receiver does not matter."""
        self._wait(self._waits.command)
        commands = (
            Command("sender", f"MAIL FROM:<{sender}>"),
            Command("receiver", f"RCPT TO:<{sender}>"),
        )
        try:
            with suppress(Refused, TryLater):
                self._announce(commands, nothing)
        except (OSError, smtplib.SMTPException) as error:
            raise gone(error) from error

    def __enter__(self) -> SmtpConnection:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._wait(1.0)
            self._client.quit()
        except (OSError, smtplib.SMTPException):
            self._client.close()

    def _offer_surely(self, letter: MimeMessage, before: Before) -> None:
        try:
            self._offer(letter, before)
        except (OSError, smtplib.SMTPException):
            if not self._may_reconnect:
                raise
            self._client.close()
            self._client = self._connect()
            self._may_reconnect = False
            self._offer(letter, before)

    def _offer(self, letter: MimeMessage, before: Before) -> None:
        """Until the server waits for the letter itself: so far nothing has left."""
        client = self._client
        if letter.utf8 and not client.has_extn("smtputf8"):
            raise Refused("The mail server takes no addresses beyond ASCII")
        # The email addresses are checked already: smtplib's own methods would parse them again.
        client.command_encoding = "utf-8" if letter.utf8 else "ascii"
        options = " SMTPUTF8 BODY=8BITMIME" if letter.utf8 else ""
        if not letter.utf8 and not letter.data.isascii() and client.has_extn("8bitmime"):
            options = " BODY=8BITMIME"
        self._wait(self._waits.command)
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
            # The server waits for a message without any receiver.
            client.send(".\r\n")
            client.getreply()
        for command, answer in answers:
            self._expect(command.what, answer, command.good)

    def _expect(self, what: str, came: tuple[int, bytes], good: int = 2) -> None:
        reply = Reply.of(*came)
        if reply.code // 100 == good:
            return
        if reply.code in (_CLOSING, -1):
            raise smtplib.SMTPServerDisconnected(f"{what}: {reply}")
        try:
            self._client.rset()
        except (OSError, smtplib.SMTPException):
            # It is said all the same, though the server hangs up.
            self._client.close()
        raise refusal(what, reply)

    def _wait(self, seconds: float) -> None:
        if self._client.sock is not None:
            self._client.sock.settimeout(seconds)


def _ended(data: bytes) -> bytes:
    """As the protocol has it: a line that begins with a dot gets another, and one alone ends."""
    if data.startswith(b"."):
        data = b"." + data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"
