from __future__ import annotations

from pydantic import Field, PositiveInt

from ..core.config.settings import Namespace


class AuditSettings(Namespace):
    EVENTS: bool = Field(
        default=True,
        description="Off: no record is kept of who did what; the security log tells of it still.",
    )
    KEEP_DAYS: PositiveInt | None = Field(
        default=365, description="`prune` deletes records that are older; unset: kept for ever."
    )
