"""One batch on one channel: each message handed over, and what became of it written down.

That a message has left is written down before the next one is handed over, and no later: a worker
that is killed has at most one in its hands of which nobody knows. Written down while the server
thinks about the next one's envelope, it costs no time of its own.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from .channel import Channel, Send
from .errors import DeliveryError, Refused, SwitchedOff, Unreachable
from .lease import insist
from .models import FAILED, SENT, SKIPPED
from .queue import Batch, Item, Queue

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 10
FIRST_RETRY, LONGEST_RETRY = 5.0, 3600.0


@dataclass
class Round:
    queue: Queue
    batch: Batch
    name: str
    # What is not yet settled; what an exception leaves here was not tried.
    waiting: list[Item] = field(init=False)
    # Has left, and is not yet written down.
    _left: tuple[Item, str | None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.waiting = list(self.batch.items)

    def work(
        self, channel: Channel, begun: Callable[[], object], go_on: Callable[[], bool]
    ) -> None:
        try:
            with channel.open() as send:
                begun()
                while self.waiting and go_on():
                    self._next(channel, send)
                self.write_down()
        finally:
            self.write_down()

    def write_down(self) -> None:
        """The message that has left."""
        if self._left is not None:
            item, reference = self._left
            self.settle(item, SENT, reference=reference)
            self._left = None

    def settle(
        self, item: Item, state: str, *, reason: str | None = None, reference: str | None = None
    ) -> None:
        insist(
            lambda: self.queue.settle(self.batch, item, state, reason=reason, reference=reference)
        )

    def _next(self, channel: Channel, send: Send) -> None:
        item = self.waiting[0]
        if (why := _unreachable(channel, item)) is not None:
            self.settle(self.waiting.pop(0), SKIPPED, reason=why)
            return
        try:
            reference = self._hand_over(send, item)
        except SwitchedOff:
            raise
        except Refused as error:
            log.error("Delivery %s by %s is refused: %s", item.id, self.name, error)
            self.settle(self.waiting.pop(0), FAILED, reason=error.reason)
        except Unreachable as error:
            # It may have been this very message that the server could not bear.
            self._try_later(self.waiting.pop(0), error.reason)
            raise
        except DeliveryError as error:
            self._try_later(self.waiting.pop(0), error.reason)
        except Exception as error:
            log.exception("Delivery %s by %s failed", item.id, self.name)
            self._try_later(self.waiting.pop(0), type(error).__name__)
        else:
            self._left = (self.waiting.pop(0), reference)

    def _hand_over(self, send: Send, item: Item) -> str | None:
        assert item.receiver is not None
        key = f"{item.message.id}.{item.id}"
        return send(item.message, item.receiver, key, self.write_down)

    def _try_later(self, item: Item, reason: str) -> None:
        if item.attempts >= MOST_ATTEMPTS:
            log.error("Delivery %s by %s is given up: %s", item.id, self.name, reason)
            self.settle(item, FAILED, reason=reason)
            return
        seconds = jittered(min(LONGEST_RETRY, FIRST_RETRY * 3 ** (item.attempts - 1)))
        log.warning(
            "Delivery %s by %s is tried again in %.0f s: %s", item.id, self.name, seconds, reason
        )
        insist(lambda: self.queue.postpone(self.batch, item, seconds, reason))


def jittered(seconds: float) -> float:
    """Not all at once when the server is back."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311


def _unreachable(channel: Channel, item: Item) -> str | None:
    if item.receiver is None:
        return "The account is gone"
    if channel.needs and not getattr(item.receiver, channel.needs):
        return f"The account has no {channel.needs}"
    return None
