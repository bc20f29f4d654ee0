from pydantic import Field, PositiveInt

from ..core.config.field_types import Limit
from ..core.config.settings import Namespace


class TasksSettings(Namespace):
    """Settings of the sample resource, the namespace TASKS."""

    ENABLED: bool = Field(default=True, description="Serve the sample resource `/tasks`.")
    OWNER_LIMIT: PositiveInt = Field(
        default=10_000, description="Maximum number of tasks of one owner."
    )
    CREATE_LIMIT: Limit = Field(
        default="300 per minute",
        description="Rate limit of new tasks from one IP address, for all owners.",
    )
