"""Invitation emails: the secret that they carry, their text, and how many one account may send."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...auth.errors import InvalidProof
from ...auth.proofs import Proofs, ProofSubject, Purpose
from ...core.clock import Clock
from ...core.config.settings import CoreSettings
from ...core.db.transaction import AnySession
from ...core.keystore import Keystore
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..models import Workspace
from ..settings import WorkspacesSettings
from .models import Invitation
from .schemas import TooManyInvitations

# The purpose of these proofs, and what they are about.
INVITATION = "invitation"


@dataclass(eq=False)
class InvitationProofs:
    """The secret that an invitation's mail carries: who has it reads the mail of the address."""

    session: AnySession
    proofs: Proofs
    purpose: Purpose
    clock: Clock

    def token(self, invitation: Invitation) -> str:
        return self.proofs.token(self.purpose, _subject(invitation))

    def find(self, token: str) -> Invitation:
        """The open invitation; otherwise InvalidProof."""
        invitation = self.proofs.by_token(self.purpose, INVITATION, token, self._by_id)
        if not invitation.is_open(self.clock.now()):
            raise InvalidProof
        return invitation

    def _by_id(self, invitation_id: object) -> ProofSubject[Invitation] | None:
        invitation = self.session.get(Invitation, invitation_id)
        return _subject(invitation) if invitation is not None else None


def _subject(invitation: Invitation) -> ProofSubject[Invitation]:
    """Ended by the answer to it. One that is mailed again keeps what was mailed before alive."""
    state = (invitation.workspace_id, invitation.email, invitation.state)
    return ProofSubject(INVITATION, invitation.id, state, invitation)


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


HOUR = 3600


@dataclass(eq=False)
class InvitationRate:
    """How many invitations one account may have mailed in an hour, exactly."""

    keystore: Keystore
    most: int

    @contextmanager
    def counted(self, inviter_id: object, wanted: int) -> Iterator[list[Email]]:
        """Counts what is wanted before anything is stored, and gives back what was not mailed: what
        was is in the list at the end."""
        key = f"invitations:{inviter_id}"
        if self.keystore.count(key, HOUR, by=wanted) > self.most:
            seconds = self.keystore.remaining(key)
            self.keystore.count(key, HOUR, by=-wanted)
            raise TooManyInvitations(seconds)
        mails: list[Email] = []
        try:
            yield mails
        except BaseException:
            mails.clear()
            raise
        finally:
            if unsent := wanted - len(mails):
                self.keystore.count(key, HOUR, by=-unsent)
