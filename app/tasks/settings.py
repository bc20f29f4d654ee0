from __future__ import annotations

from pydantic import Field, PositiveInt

from ..core.config.field_types import Limit
from ..core.config.settings import Namespace


class TasksSettings(Namespace):
    ENABLED: bool = Field(default=True, description="Mount the sample resource in the service.")
    OWNER_LIMIT: PositiveInt = Field(default=10_000, description="Tasks that one owner may have.")
    CREATE_LIMIT: Limit = Field(
        default="300 per minute",
        description="Tasks that clients can create from one IP address, for all owners.",
    )
