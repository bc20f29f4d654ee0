"""Sends one batch on one channel and records the result of each delivery.

A sent message is recorded before the next one is handed over: a killed worker leaves at most one
message with an unknown result. The record is written while the server checks the next envelope, so
it costs no extra time.
"""

import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...core.types import AccountKey
from ..channel import Channel, ClaimedMessage, RecipientChoices, Send, receiver_id_reader
from ..errors import DeliveryError, Refused, SenderRefused, SwitchedOff, Unreachable
from ..outbox.batches import Batch, Batches, ClaimedDelivery
from ..outbox.models import FAILED, SENT, SKIPPED
from ..personal import FieldReader, FieldValues
from .lease import retry_until_written

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 10
# Attempts are not counted while the server rejects the sender; after this time, deliveries fail.
MAX_AGE_DAYS = 2
FIRST_RETRY, LONGEST_RETRY = 5.0, 3600.0


class BatchRun:
    def __init__(
        self,
        batches: Batches,
        batch: Batch,
        channel_name: str,
        now: datetime,
        fields: FieldReader | None = None,
        choices: RecipientChoices | None = None,
    ) -> None:
        self.batches = batches
        self.batch = batch
        self._fields = fields
        self._choices = choices
        self.name = channel_name
        self.now = now
        # Deliveries without a result yet; after an exception, these were not tried.
        self.remaining = list(batch.deliveries)
        # The delivery that was sent and is not recorded yet, with its reference.
        self._unrecorded: tuple[ClaimedDelivery, str | None] | None = None
        # The receivers by their ids, as the channel's address book returns them.
        self._receivers: Mapping[AccountKey, Any] = {}
        # The values of personal fields by receiver, if a message of the batch has personal fields.
        self._values: Mapping[AccountKey, FieldValues] = {}
        # Why deliveries are skipped by the choice of their recipients, by the deliveries' ids.
        self._skipped: Mapping[int, str] = {}
        self._read_id: Callable[[Any], AccountKey]

    def send(
        self, channel: Channel, on_start: Callable[[], object], may_continue: Callable[[], bool]
    ) -> None:
        self._read_id = receiver_id_reader(channel.address_book)
        ids = {self._read_id(delivery.receiver_id) for delivery in self.remaining}
        self._receivers = channel.address_book.load(ids)
        if self._fields and any(each.message.is_personal for each in self.remaining):
            self._values = self._fields.read(ids)
        if self._choices is not None:
            self._skipped = self._choices.skip_reasons(self.name, self._chosen())
        try:
            with channel.open() as send:
                on_start()
                while self.remaining and may_continue():
                    self._send_next(channel, send)
                self.record_sent()
        finally:
            self.record_sent()

    def record_sent(self) -> None:
        """Record the delivery that was sent last, unless it is recorded."""
        if self._unrecorded is not None:
            delivery, reference = self._unrecorded
            self.settle(delivery, SENT, reference=reference)
            self._unrecorded = None

    def is_too_old(self, delivery: ClaimedDelivery) -> bool:
        return (self.now - delivery.message.due_from(self.name)).days >= MAX_AGE_DAYS

    def settle(
        self,
        delivery: ClaimedDelivery,
        state: str,
        *,
        reason: str | None = None,
        reference: str | None = None,
    ) -> None:
        retry_until_written(
            lambda: self.batches.settle(
                self.batch, delivery, state, reason=reason, reference=reference
            )
        )

    def _chosen(self) -> list[ClaimedMessage]:
        """Return the deliveries that depend on a choice of their recipient."""
        return [
            ClaimedMessage(each.id, self._read_id(each.receiver_id), each.message)
            for each in self.remaining
            if each.message.kind is not None or each.message.email_if_unread_at is not None
        ]

    def _send_next(self, channel: Channel, send: Send) -> None:
        delivery = self.remaining[0]
        receiver = self._receivers.get(self._read_id(delivery.receiver_id))
        reason = self._skipped.get(delivery.id) or channel.address_book.skip_reason(receiver)
        if reason is not None:
            self.settle(self.remaining.pop(0), SKIPPED, reason=reason)
            return
        key, message = f"{delivery.message.id}.{delivery.id}", delivery.message
        if message.is_personal:
            values = self._values.get(self._read_id(delivery.receiver_id), {})
            message = replace(message, values=values)
        try:
            reference = send(message, receiver, key, self.record_sent)
        except SwitchedOff:
            raise
        except Refused as error:
            log.error("Delivery %s by %s is refused: %s", delivery.id, self.name, error)
            self.settle(self.remaining.pop(0), FAILED, reason=error.reason)
        except Unreachable as error:
            # This message may be the cause of the error, so its attempt is counted.
            self._try_later(self.remaining.pop(0), error)
            raise
        except DeliveryError as error:
            self._try_later(self.remaining.pop(0), error)
        except Exception as error:
            log.exception("Delivery %s by %s failed", delivery.id, self.name)
            self._try_later(self.remaining.pop(0), DeliveryError(type(error).__name__))
        else:
            # Not every channel calls `record_sent` while it sends.
            self.record_sent()
            self._unrecorded = (self.remaining.pop(0), reference)

    def _try_later(self, delivery: ClaimedDelivery, error: DeliveryError) -> None:
        reason = error.reason
        gives_up = delivery.attempts >= MAX_ATTEMPTS
        if isinstance(error, SenderRefused):
            # A wrong setting may be the cause, so only the age of the delivery is limited.
            gives_up = self.is_too_old(delivery)
        if gives_up:
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
        retry_until_written(lambda: self.batches.postpone(self.batch, delivery, seconds, reason))


def jittered(seconds: float) -> float:
    """Return the seconds with a random deviation, so that retries are spread."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311
