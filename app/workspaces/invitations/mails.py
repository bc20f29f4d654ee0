from __future__ import annotations

from dataclasses import dataclass

from ...core.config.settings import CoreSettings
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..models import Workspace
from ..settings import WorkspacesSettings
from .models import Invitation
from .proofs import InvitationProofs


@dataclass(eq=False)
class InvitationMails:
    core: CoreSettings
    settings: WorkspacesSettings
    templates: Templates
    proofs: InvitationProofs

    def invitation(self, invitation: Invitation, workspace: Workspace, inviter: str) -> Email:
        """The same for who has an account and who has none."""
        token = self.proofs.token(invitation)
        return self.templates.email(
            invitation.email,
            f"{self.core.PROJECT_NAME}: an invitation to {workspace.name}",
            "invitation",
            username=invitation.email,
            project=self.core.PROJECT_NAME,
            client_host=self.core.page_host,
            link=f"{self.core.page_url(self.settings.INVITATION_PATH)}?token={token}",
            token=token,
            workspace=workspace.name,
            inviter=inviter,
            type=invitation.type,
            message=invitation.message,
            days=self.settings.INVITATION_DAYS,
        )
