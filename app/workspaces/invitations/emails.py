"""Invitation emails: their token, their text, and their rate limit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...auth.errors import InvalidProof
from ...auth.proofs import Proofs, ProofSubject, Purpose
from ...core.clock import Clock
from ...core.db.transaction import AnySession
from ...core.keystore import Keystore
from ...core.translations import mark
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..models import Workspace
from ..settings import WorkspacesSettings
from .models import Invitation
from .schemas import TooManyInvitations

# The purpose of the tokens, and the kind of their subject.
INVITATION = "invitation"


@dataclass(eq=False)
class InvitationProofs:
    """Tokens of invitation emails, which prove access to the invited address."""

    session: AnySession
    proofs: Proofs
    purpose: Purpose
    clock: Clock

    def token(self, invitation: Invitation) -> str:
        return self.proofs.token(self.purpose, _subject(invitation))

    def find(self, token: str) -> Invitation:
        """Return the open invitation of a token. Raises InvalidProof."""
        invitation = self.proofs.by_token(self.purpose, INVITATION, token, self._by_id)
        if not invitation.is_open(self.clock.now()):
            raise InvalidProof
        return invitation

    def _by_id(self, invitation_id: object) -> ProofSubject[Invitation] | None:
        invitation = self.session.get(Invitation, invitation_id)
        return _subject(invitation) if invitation is not None else None


def _subject(invitation: Invitation) -> ProofSubject[Invitation]:
    """Return the subject of the tokens, which are invalid once the invitation is accepted, declined
    or revoked. Tokens of earlier emails for an open invitation stay valid."""
    state = (invitation.workspace_id, invitation.email, invitation.state)
    return ProofSubject(INVITATION, invitation.id, state, invitation)


def render_invitation(
    settings: WorkspacesSettings,
    templates: Templates,
    proofs: InvitationProofs,
    invitation: Invitation,
    workspace: Workspace,
    inviter: str,
) -> Email:
    """Return the email, which does not depend on whether the address has an account."""
    return templates.to_account(
        "invitation",
        invitation.email,
        mark("invitation to {workspace}"),
        path=settings.INVITATION_PATH,
        token=proofs.token(invitation),
        workspace=workspace.name,
        inviter=inviter,
        type=invitation.type,
        message=invitation.message,
        days=settings.INVITATION_DAYS,
    )


HOUR = 3600


@contextmanager
def reserve_emails(
    keystore: Keystore, limit: int, inviter_id: object, count: int
) -> Iterator[list[Email]]:
    """Count the emails that an account sends in an hour before anything is stored, and take back
    the unsent ones at the end: the caller adds sent emails to the list.

    Raises TooManyInvitations.
    """
    key = f"invitations:{inviter_id}"
    if keystore.count(key, HOUR, by=count) > limit:
        seconds = keystore.remaining(key)
        keystore.count(key, HOUR, by=-count)
        raise TooManyInvitations(seconds)
    emails: list[Email] = []
    try:
        yield emails
    except BaseException:
        emails.clear()
        raise
    finally:
        if unsent := count - len(emails):
            keystore.count(key, HOUR, by=-unsent)
