"""An SMTP server for tests: it stores received messages, and rejects commands on demand."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from threading import Lock
from typing import Any

from aiosmtpd.controller import Controller

# Gets the argument of a command, such as a recipient's address, and returns an error response, or
# None to accept.
Answer = Callable[[str], str | None]


@dataclass
class ReceivedMail:
    to: str
    data: bytes

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.data, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed

    def part(self, kind: str) -> str:
        body = self.message.get_body((kind,))
        assert body is not None
        return str(body.get_content())


@dataclass
class Sink:
    port: int = 0
    received: list[ReceivedMail] = field(default_factory=list)
    connections: int = 0
    # The names of HELO and EHLO.
    names: list[str] = field(default_factory=list)
    # Whether the server announces PIPELINING.
    pipelining: bool = False
    greeting_answer: Answer = lambda _name: None
    sender_answer: Answer = lambda _from: None
    receiver_answer: Answer = lambda _to: None
    message_answer: Answer = lambda _to: None
    # Called before a message is accepted; may wait, or count.
    before_taking: Callable[[], None] = lambda: None
    _lock: Lock = field(default_factory=Lock)

    @property
    def receivers(self) -> list[str]:
        return [mail.to for mail in self.received]

    def wait_for(self, count: int, seconds: float = 15.0) -> list[ReceivedMail]:
        until = time.monotonic() + seconds
        while len(self.received) < count:
            if time.monotonic() > until:
                raise AssertionError(f"{len(self.received)} mails of {count} after {seconds} s")
            time.sleep(0.01)
        return self.received

    # aiosmtpd calls these by their names.

    async def handle_EHLO(
        self, _server: Any, session: Any, _envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self.connections += 1
        self.names.append(hostname)
        if answer := self.greeting_answer(hostname):
            return [answer]
        return [*responses[:-1], "250-PIPELINING", responses[-1]] if self.pipelining else responses

    async def handle_HELO(self, _server: Any, session: Any, _envelope: Any, hostname: str) -> str:
        session.host_name = hostname
        return self.greeting_answer(hostname) or "250 fine"

    async def handle_MAIL(
        self, _server: Any, _session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if answer := self.sender_answer(address):
            return answer
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if answer := self.receiver_answer(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:
        self.before_taking()
        answer = self.message_answer(envelope.rcpt_tos[0])
        if answer == "drop":
            server.transport.close()
            return "421 Gone"
        if answer:
            return answer
        with self._lock:
            self.received.extend(ReceivedMail(to, envelope.content) for to in envelope.rcpt_tos)
        return "250 Taken"


@contextmanager
def smtp_sink(port: int = 0) -> Iterator[Sink]:
    sink = Sink(port or free_port())
    controller = Controller(
        sink, hostname="127.0.0.1", port=sink.port, enable_SMTPUTF8=True, decode_data=False
    )
    controller.start()
    try:
        yield sink
    finally:
        controller.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
