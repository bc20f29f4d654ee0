from pydantic import Field, PositiveInt

from ..core.config.settings import Namespace


class AuditSettings(Namespace):
    """Settings of the audit log, the namespace AUDIT."""

    EVENTS: bool = Field(
        default=True,
        description="Write the audit log. If `false`, only the security log is written.",
    )
    KEEP_DAYS: PositiveInt | None = Field(
        default=365,
        description="Days after which `flask frontdesk prune` deletes an audit log entry. If"
        " unset, entries are kept.",
    )
