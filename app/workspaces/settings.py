from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from ..core.config.field_types import UrlPath
from ..core.config.settings import Namespace


class WorkspacesSettings(Namespace):
    ADDING: Literal["invite", "direct"] = Field(
        default="invite",
        description="What `POST …/members` does: invite an address, or directly add its account.",
    )
    CREATED_PER_DAY: PositiveInt = Field(
        default=20, description="Workspaces that one account may create in 24 hours."
    )
    CREATED_LIMIT: PositiveInt = Field(
        default=100,
        description="Workspaces that one account may create in total, next to its personal one.",
    )
    INVITATIONS_PER_HOUR: PositiveInt = Field(
        default=50, description="Invitation emails that one account may send in an hour."
    )
    INVITATION_DAYS: PositiveInt = Field(default=7, description="Days until an invitation expires.")
    INVITATION_KEEP_DAYS: PositiveInt = Field(
        default=90, description="Days until `prune` deletes an expired invitation."
    )
    INVITATION_PATH: UrlPath = Field(
        default="/invitation", description="Path of the link in invitation emails."
    )
    PENDING_LIMIT: PositiveInt = Field(
        default=200, description="Pending invitations that one workspace may have."
    )
