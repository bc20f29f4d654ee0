"""The secret that an invitation's mail carries: who has it reads the mail of the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...auth.errors import InvalidProof
from ...auth.proofs import Proofs, ProofSubject, Purpose
from ...core.clock import Clock
from ...core.db.transaction import AnySession
from .models import Invitation

# The purpose of these proofs, and what they are about.
INVITATION = "invitation"


@dataclass(eq=False)
class InvitationProofs:
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

    def _by_id(self, invitation_id: Any) -> ProofSubject[Invitation] | None:
        invitation = self.session.get(Invitation, invitation_id)
        return _subject(invitation) if invitation is not None else None


def _subject(invitation: Invitation) -> ProofSubject[Invitation]:
    """Ended by the answer to it. One that is mailed again keeps what was mailed before alive."""
    state = (invitation.workspace_id, invitation.email, invitation.state)
    return ProofSubject(INVITATION, invitation.id, state, invitation)
