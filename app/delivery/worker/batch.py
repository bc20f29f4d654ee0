"""One batch on one channel: each message handed over, and what became of it written down.

A sent message is recorded before the next one is handed over: a killed worker leaves at most one
message with an unknown result. The record is written while the server checks the next envelope, so
it costs no extra time.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ..channel import Channel, Send, reader_of
from ..errors import DeliveryError, Refused, SenderRefused, SwitchedOff, Unreachable
from ..outbox.batches import Batch, Batches, ClaimedDelivery
from ..outbox.models import FAILED, SENT, SKIPPED
from .lease import insist

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 10
# An unreachable server costs no attempt, and is waited for this long.
LONGEST_WAIT_DAYS = 2
FIRST_RETRY, LONGEST_RETRY = 5.0, 3600.0


class BatchRun:
    def __init__(self, batches: Batches, batch: Batch, channel_name: str, now: datetime) -> None:
        self.batches = batches
        self.batch = batch
        self.name = channel_name
        self.now = now
        # Deliveries without a result yet; after an exception, these were not tried.
        self.waiting = list(batch.deliveries)
        # The message that was sent and is not yet recorded.
        self._left: tuple[ClaimedDelivery, str | None] | None = None
        # The receivers by their ids, as the channel's address book returns them.
        self._receivers: Mapping[Any, Any] = {}
        self._read_id: Callable[[Any], Any]

    def work(
        self, channel: Channel, begun: Callable[[], object], go_on: Callable[[], bool]
    ) -> None:
        self._read_id = reader_of(channel.address_book)
        ids = {self._read_id(each.receiver_id) for each in self.waiting}
        self._receivers = channel.address_book.look_up(ids)
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
            delivery, reference = self._left
            self.settle(delivery, SENT, reference=reference)
            self._left = None

    def waited_too_long(self, delivery: ClaimedDelivery) -> bool:
        return (self.now - delivery.message.created_at).days >= LONGEST_WAIT_DAYS

    def settle(
        self,
        delivery: ClaimedDelivery,
        state: str,
        *,
        reason: str | None = None,
        reference: str | None = None,
    ) -> None:
        insist(
            lambda: self.batches.settle(
                self.batch, delivery, state, reason=reason, reference=reference
            )
        )

    def _next(self, channel: Channel, send: Send) -> None:
        delivery = self.waiting[0]
        receiver = self._receivers.get(self._read_id(delivery.receiver_id))
        if (why := channel.address_book.lacks(receiver)) is not None:
            self.settle(self.waiting.pop(0), SKIPPED, reason=why)
            return
        key = f"{delivery.message.id}.{delivery.id}"
        try:
            reference = send(delivery.message, receiver, key, self.write_down)
        except SwitchedOff:
            raise
        except Refused as error:
            log.error("Delivery %s by %s is refused: %s", delivery.id, self.name, error)
            self.settle(self.waiting.pop(0), FAILED, reason=error.reason)
        except Unreachable as error:
            # It may have been this very message that the server could not bear.
            self._try_later(self.waiting.pop(0), error)
            raise
        except DeliveryError as error:
            self._try_later(self.waiting.pop(0), error)
        except Exception as error:
            log.exception("Delivery %s by %s failed", delivery.id, self.name)
            self._try_later(self.waiting.pop(0), DeliveryError(type(error).__name__))
        else:
            # A channel that had no use for the time between has not done it.
            self.write_down()
            self._left = (self.waiting.pop(0), reference)

    def _try_later(self, delivery: ClaimedDelivery, error: DeliveryError) -> None:
        reason = error.reason
        in_vain = delivery.attempts >= MOST_ATTEMPTS
        if isinstance(error, SenderRefused):
            # Others have their turn before it, but no attempt is held against it.
            in_vain = self.waited_too_long(delivery)
        if in_vain:
            log.error("Delivery %s by %s is given up: %s", delivery.id, self.name, reason)
            self.settle(delivery, FAILED, reason=reason)
            return
        seconds = jittered(min(LONGEST_RETRY, FIRST_RETRY * 3 ** (delivery.attempts - 1)))
        log.warning(
            "Delivery %s by %s is tried again in %.0f s: %s",
            delivery.id,
            self.name,
            seconds,
            reason,
        )
        insist(lambda: self.batches.postpone(self.batch, delivery, seconds, reason))


def jittered(seconds: float) -> float:
    """Not all at once when the server is back."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311
