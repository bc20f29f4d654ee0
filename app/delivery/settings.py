from __future__ import annotations

from pydantic import Field

from ..core.config.kinds import UrlPath
from ..core.config.settings import Namespace


class DeliverySettings(Namespace):
    """A part of the namespace NOTIFICATIONS."""

    DASHBOARD_PATH: UrlPath = Field(default="/dashboard", description="Path of the mail's link.")
    QUEUE: str = Field(
        default="frontdesk", description="Name of the broker's queue, where there is one."
    )
