from __future__ import annotations

from typing import ClassVar

from pydantic import Field, PositiveInt

from ..core.config.settings import Namespace


class AuditSettings(Namespace):
    IS_ALWAYS_APART: ClassVar[bool] = True

    EVENTS: bool = Field(
        default=True,
        description="Off: no record is kept of who did what; the security log tells of it still.",
    )
    KEEP_DAYS: PositiveInt | None = Field(
        default=365, description="`prune` deletes records that are older; unset: kept for ever."
    )
