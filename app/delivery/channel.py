"""A channel: a name, whom it reaches, and a way to send. A worker knows nothing more of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from .address_book import AddressBook
from .message import Receiver, StoredMessage

# Sends one message to one receiver, who comes of the channel's address book. Returns the gateway's
# id of it where there is one; raises one of errors.py when it did not leave. The key is the same
# whenever this delivery is tried again; the last argument is called before the message is out of
# our hands.
Send = Callable[[StoredMessage, Any, str, Callable[[], None]], str | None]

# What a host registers for a channel of its own.
Handler = Callable[[StoredMessage, Receiver], str | None]


class Channel(Protocol):
    name: str

    @property
    def address_book(self) -> AddressBook[Any]:
        """Whom it reaches."""

    def off(self) -> str | None:
        """Why nothing can leave on this channel now, or nothing."""

    def open(self) -> AbstractContextManager[Send]:
        """A way to send a batch; raises `Unreachable` when there is none."""


@dataclass
class HandlerChannel:
    """A channel of the host's, which is called for each receiver."""

    name: str
    handler: Handler
    address_book: AddressBook[Receiver]

    def off(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: StoredMessage, receiver: Receiver, _key: str, before: Callable[[], None]
        ) -> str | None:
            before()
            return self.handler(message, receiver)

        yield send


@dataclass(eq=False)
class Channels:
    """The channels that send. `inapp` stores, and is none of them."""

    ours: Sequence[Channel]
    # The host's registrations, read anew each time: it may add to them later.
    handlers: Mapping[str, Handler]
    # Whom those reach.
    accounts: AddressBook[Receiver]

    def get(self, name: str) -> Channel | None:
        if (handler := self.handlers.get(name)) is not None:
            return HandlerChannel(name, handler, self.accounts)
        return next((channel for channel in self.ours if channel.name == name), None)

    def names(self) -> list[str]:
        """Each once: a host's may have the name of one of ours, and take its place."""
        return list(dict.fromkeys([*(channel.name for channel in self.ours), *self.handlers]))
