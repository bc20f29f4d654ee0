from __future__ import annotations

from pydantic import Field, PositiveInt

from ..core.config.settings import Namespace


class AuditSettings(Namespace):
    EVENTS: bool = Field(
        default=True,
        description="Write the audit log. Off: only the security log is written.",
    )
    KEEP_DAYS: PositiveInt | None = Field(
        default=365,
        description="Days until `prune` deletes an entry; unset: entries are kept forever.",
    )
