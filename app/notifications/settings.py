from __future__ import annotations

from pydantic import Field, PositiveInt

from ..delivery.settings import DeliverySettings


class NotificationsSettings(DeliverySettings):
    KEEP_DAYS: PositiveInt | None = Field(
        default=None,
        description="`prune` deletes notifications that are older; unset: kept for ever.",
    )
    INLINE_RECEIVERS: PositiveInt = Field(
        default=10_000,
        description="A broadcast to more receivers is stored by the request and expanded by the"
        " workers.",
    )
