from typing import Literal

from pydantic import Field, PositiveInt

from ..core.config.field_types import UrlPath
from ..core.config.settings import Namespace


class WorkspacesSettings(Namespace):
    """Settings of workspaces and invitations, the namespace WORKSPACES."""

    ADDING: Literal["invite", "direct"] = Field(
        default="invite",
        description="What adding a member does: `invite` sends an invitation, `direct` adds an"
        " existing account immediately.",
    )
    CREATED_PER_DAY: PositiveInt = Field(
        default=20,
        description="Maximum number of workspaces that one account can create in 24 hours.",
    )
    CREATED_LIMIT: PositiveInt = Field(
        default=100,
        description="Maximum number of workspaces that one account can create, without its"
        " default workspace.",
    )
    INVITATIONS_PER_HOUR: PositiveInt = Field(
        default=50,
        description="Maximum number of invitation emails that one account can send in an hour.",
    )
    INVITATION_DAYS: PositiveInt = Field(
        default=7, description="Days for which an invitation is valid."
    )
    INVITATION_KEEP_DAYS: PositiveInt = Field(
        default=90,
        description="Days after which `flask frontdesk prune` deletes an expired invitation.",
    )
    INVITATION_PATH: UrlPath = Field(
        default="/invitation",
        description="Path of the page that the link in an invitation email opens.",
    )
    PENDING_LIMIT: PositiveInt = Field(
        default=200, description="Maximum number of open invitations of one workspace."
    )
