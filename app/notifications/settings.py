from __future__ import annotations

from pydantic import Field, PositiveInt

from ..delivery.settings import DeliverySettings


class NotificationsSettings(DeliverySettings):
    KEEP_DAYS: PositiveInt | None = Field(
        default=None,
        description="Days until `prune` deletes a notification; unset: they are kept forever.",
    )
    INLINE_RECEIVERS: PositiveInt = Field(
        default=10_000,
        description="Receivers of a broadcast that the request stores; workers store"
        " the receivers of larger broadcasts.",
    )
