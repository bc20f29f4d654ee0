from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from ..core.config.field_types import UrlPath
from ..core.config.settings import Namespace


class WorkspacesSettings(Namespace):
    ADDING: Literal["invite", "direct"] = Field(
        default="invite",
        description="What `POST …/members` does: invite, or add at once whoever has an account.",
    )
    CREATED_PER_DAY: PositiveInt = Field(
        default=20, description="Workspaces that one account may make in 24 hours."
    )
    CREATED_LIMIT: PositiveInt = Field(
        default=100,
        description="Workspaces that one account may make in all; its own default is none.",
    )
    INVITATIONS_PER_HOUR: PositiveInt = Field(
        default=50, description="Invitations that one account may have mailed in an hour."
    )
    INVITATION_DAYS: PositiveInt = Field(default=7, description="Life of an invitation.")
    INVITATION_KEEP_DAYS: PositiveInt = Field(
        default=90, description="Days that an invitation is kept after its time is over."
    )
    INVITATION_PATH: UrlPath = Field(
        default="/invitation", description="Path of the mail's invitation link."
    )
    PENDING_LIMIT: PositiveInt = Field(
        default=200, description="Invitations that may wait for an answer in one workspace."
    )
