"""A channel: a name, and a way to send. The courier knows nothing more of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from .message import Message, Receiver

# Sends one message to one receiver. Returns the gateway's id of it where there is one; raises one
# of errors.py when it did not leave. The key is the same whenever this delivery is tried again; the
# last argument is called before the message is out of our hands.
Send = Callable[[Message, Receiver, str, Callable[[], None]], str | None]

# What a host registers for a channel of its own.
Handler = Callable[[Message, Receiver], str | None]


class Channel(Protocol):
    name: str
    # What of an account it needs: `email`, `phone`, or nothing.
    needs: str | None

    def off(self) -> str | None:
        """Why nothing can leave on this channel now, or nothing."""

    def open(self) -> AbstractContextManager[Send]:
        """A way to send a batch; raises `Unreachable` when there is none."""


class HandlerChannel:
    """A channel of the host's, which is called for each receiver."""

    needs: str | None = None

    def __init__(self, name: str, handler: Handler) -> None:
        self.name = name
        self._handler = handler

    def off(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: Message, receiver: Receiver, _key: str, before: Callable[[], None]
        ) -> str | None:
            before()
            return self._handler(message, receiver)

        yield send


class Channels:
    """The channels that send. `inapp` stores, and is none of them."""

    def __init__(self, own: list[Channel], handlers: dict[str, Handler]) -> None:
        self._own = {channel.name: channel for channel in own}
        # The host's registrations, read anew each time: it may add to them later.
        self._handlers = handlers

    def get(self, name: str) -> Channel | None:
        if (handler := self._handlers.get(name)) is not None:
            return HandlerChannel(name, handler)
        return self._own.get(name)

    def names(self) -> list[str]:
        return [*self._own, *(name for name in self._handlers if name not in self._own)]
