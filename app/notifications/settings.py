from __future__ import annotations

from pydantic import Field, PositiveInt

from ..delivery.settings import DeliverySettings


class NotificationsSettings(DeliverySettings):
    KEEP_DAYS: PositiveInt | None = Field(
        default=None,
        description="`prune` deletes notifications that are older; unset: kept for ever.",
    )
