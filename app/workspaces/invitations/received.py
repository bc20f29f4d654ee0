from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...auth.errors import InvalidProof
from ...core.actions import Action, Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.transaction import AnySession, transaction
from ...core.errors import Problem
from ...core.types import AccountKey
from ..actions import INVITATION_ACCEPTED, INVITATION_DECLINED
from ..members import ListedMember, Members
from .emails import InvitationProofs
from .lookup import InvitationRow, in_state, read_invitations, select_invitations
from .models import ACCEPTED, DECLINED, PENDING, Invitation
from .schemas import AddressNotVerified, InvitationNotFound, InviterGone, OtherAddress


@dataclass(eq=False)
class ReceivedInvitations:
    """Lists, accepts and declines the invitations to an account.

    An account with a verified address finds them in its list. The emailed token also finds one, and
    verifies the address.
    """

    session: AnySession
    accounts: Accounts
    members: Members
    proofs: InvitationProofs
    clock: Clock

    def page(self, account: AccountLike, offset: int, limit: int) -> Sequence[InvitationRow]:
        self._check_verified(account)
        now = self.clock.now()
        rows = (
            select_invitations(self.accounts.model)
            .where(Invitation.email == account.email, in_state(PENDING, now))
            .order_by(Invitation.id.desc())
        )
        return read_invitations(self.session, rows.offset(offset).limit(limit), now)

    def accept(self, account: AccountLike, invitation_id: int) -> ListedMember:
        with transaction(self.session):
            invitation = self._find(account, invitation_id)
            return self._accept(account, self._lock(invitation, InvitationNotFound))

    def decline(self, account: AccountLike, invitation_id: int) -> None:
        with transaction(self.session):
            invitation = self._find(account, invitation_id)
            self._decline(self._lock(invitation, InvitationNotFound))

    def show(self, token: str) -> InvitationRow:
        """Return the invitation of a token. Only its holder may learn whether the address has an
        account."""
        invitation = self.proofs.find(token)
        rows = select_invitations(self.accounts.model).where(Invitation.id == invitation.id)
        [row] = read_invitations(self.session, rows, self.clock.now())
        exists = self.accounts.find(invitation.email) is not None
        return row._replace(account_exists=exists)

    def accept_by_token(self, account: AccountLike, token: str) -> ListedMember:
        with transaction(self.session):
            invitation = self.proofs.find(token)
            if invitation.email != account.email:
                raise OtherAddress
            invitation = self._lock(invitation, InvalidProof)
            if not self.accounts.is_email_verified(account):
                self.accounts.verify_email_of(account)
            return self._accept(account, invitation)

    def invited_address(self, token: str) -> str:
        return self.proofs.find(token).email

    def decline_by_token(self, token: str) -> None:
        with transaction(self.session):
            self._decline(self._lock(self.proofs.find(token), InvalidProof))

    def _check_verified(self, account: AccountLike) -> None:
        if not self.accounts.is_email_verified(account):
            raise AddressNotVerified

    def _find(self, account: AccountLike, invitation_id: int) -> Invitation:
        self._check_verified(account)
        invitation = self.session.scalar(
            select(Invitation).where(
                Invitation.id == invitation_id, Invitation.email == account.email
            )
        )
        if invitation is None:
            raise InvitationNotFound
        return invitation

    def _lock(self, invitation: Invitation, missing: type[Problem]) -> Invitation:
        """Lock the workspace and return the invitation as stored, so that of concurrent answers
        only the first is accepted. Raise `missing` if it is not open."""
        self.members.lock(invitation.workspace_id)
        found = self.session.scalar(
            select(Invitation)
            .where(Invitation.id == invitation.id)
            .execution_options(populate_existing=True)
        )
        if found is None or not found.is_open(self.clock.now()):
            raise missing
        return found

    def _accept(self, account: AccountLike, invitation: Invitation) -> ListedMember:
        self._check_inviter(invitation)
        workspace_id = invitation.workspace_id
        member = self.members.find(workspace_id, account.id)
        if member is None:
            member = self.members.insert(workspace_id, account, invitation.type)
        invitation.state = ACCEPTED
        # An account with a current workspace keeps it.
        if account.current_workspace_id is None:
            account.current_workspace_id = workspace_id
        self._report(INVITATION_ACCEPTED, invitation, account.id)
        return ListedMember(member, account.email)

    def _decline(self, invitation: Invitation) -> None:
        invitation.state = DECLINED
        self._report(INVITATION_DECLINED, invitation, None)

    def _report(
        self, action: Action, invitation: Invitation, account_id: AccountKey | None
    ) -> None:
        report_action(
            self.session,
            action,
            invitation,
            account_id=account_id,
            workspace_id=invitation.workspace_id,
            target=Target("invitation", invitation.id),
        )

    def _check_inviter(self, invitation: Invitation) -> None:
        """Raise InviterGone unless the inviter may still invite this type of member."""
        inviter = self.accounts.by_id(invitation.inviter_id) if invitation.inviter_id else None
        member = inviter and self.members.find(invitation.workspace_id, inviter.id)
        if not (
            inviter
            and member
            and self.accounts.is_active(inviter)
            and member.is_active
            and member.may_manage(invitation.type)
        ):
            raise InviterGone
