import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update

from ...accounts.addresses import read_email
from ...accounts.errors import InvalidEmail
from ...accounts.service import Accounts
from ...core.actions import Action, Target
from ...core.context import BasicService, report_action
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import after_commit, execute_bulk, transaction
from ...core.errors import Fault, Invalid, QuotaReached
from ...delivery.mail.one_off import OneOffMail
from ...delivery.message import Email
from ..actions import INVITATION_CREATED, INVITATION_RENEWED, INVITATION_RESENT, INVITATION_REVOKED
from ..errors import AlreadyAMember
from ..members import Members
from ..models import Member, Workspace
from ..settings import WorkspacesSettings
from .lookup import InvitationRow, in_state, read_invitations, select_invitations
from .models import EXPIRED, PENDING, REVOKED, Invitation
from .schemas import InvitationClosed, InvitationNotFound, TooManyInvitations

# The limits of emails for one invitation.
MAX_SENDS = 5
SEND_INTERVAL = timedelta(minutes=1)


@dataclass(eq=False)
class Invitations(BasicService):
    """The invitations of a workspace. The actor is the requesting member.

    Every change locks the workspace's row, as changes of members do. Nothing depends on whether an
    address has an account.
    """

    accounts: Accounts
    members: Members
    # Counts the emails of an inviter, and yields the list of those that were sent.
    reserve: Callable[[object, int], AbstractContextManager[list[Email]]]
    # Returns the email of an invitation to a workspace, by an inviter with this email address.
    render: Callable[[Invitation, Workspace, str], Email]
    one_off_mail: OneOffMail
    settings: WorkspacesSettings

    def page(
        self, workspace_id: int, offset: int, limit: int, state: str | None = None
    ) -> Sequence[InvitationRow]:
        now = self.clock.now()
        rows = select_invitations(self.accounts.model).where(
            Invitation.workspace_id == workspace_id
        )
        if state is not None:
            rows = rows.where(in_state(state, now))
        newest_first = rows.order_by(Invitation.id.desc()).offset(offset).limit(limit)
        return read_invitations(self.session, newest_first, now)

    def addresses(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the email addresses of the invitations that still exist, by their ids."""
        unique_ids = set(ids)
        if not unique_ids:
            return {}
        rows = self.session.execute(
            select(Invitation.id, Invitation.email).where(Invitation.id.in_(unique_ids))
        )
        return {row[0]: row[1] for row in rows}

    def invite(
        self, actor: Member, emails: Mapping[str, str], member_type: str, message: str | None = None
    ) -> Sequence[InvitationRow]:
        """Invite addresses, which are keyed by their field for error messages.

        A pending invitation gets the new type and message and is sent again, within the limits.
        """
        addresses = _addresses(emails)
        rate = self.reserve(actor.account_id, len(addresses))
        with rate as sent, transaction(self.session) as session:
            manager = self.members.manager(actor)
            self.members.check_may_manage(manager, member_type)
            self._check_not_members(manager.workspace_id, addresses)
            pending = self._pending(manager.workspace_id, addresses)
            for invitation in pending.values():
                self.members.check_may_manage(manager, invitation.type)
            self._check_limit(manager.workspace_id, len(addresses) - len(pending))
            new = {
                email: self._new(manager.workspace_id, email)
                for email in addresses
                if email not in pending
            }
            invited = [pending.get(email) or new[email] for email in addresses]
            for invitation in invited:
                invitation.inviter_id, invitation.type = manager.account_id, member_type
                invitation.message = message
            session.add_all(new.values())
            session.flush()
            for invitation in invited:
                is_new = invitation.email in new
                action = INVITATION_CREATED if is_new else INVITATION_RENEWED
                self._report(action, invitation, type=member_type)
            for invitation in invited:
                if not self._seconds_until_resend(invitation) and invitation.sends < MAX_SENDS:
                    sent.append(self._send(invitation))
            return self._rows(invited)

    def resend(self, actor: Member, invitation_id: int) -> InvitationRow:
        with self.reserve(actor.account_id, 1) as sent, transaction(self.session):
            invitation = self._lock(actor, invitation_id)
            if invitation.sends >= MAX_SENDS:
                raise QuotaReached("This invitation was sent the maximum number of times")
            if seconds := self._seconds_until_resend(invitation):
                raise TooManyInvitations(seconds)
            invitation.inviter_id = actor.account_id
            self._report(INVITATION_RESENT, invitation)
            sent.append(self._send(invitation))
            return self._rows([invitation])[0]

    def revoke(self, actor: Member, invitation_id: int) -> InvitationRow:
        with transaction(self.session):
            invitation = self._lock(actor, invitation_id)
            invitation.state = REVOKED
            self._report(INVITATION_REVOKED, invitation)
            return self._rows([invitation])[0]

    def prune(self, batch: int = 1_000) -> int:
        """Delete old expired invitations, in any state, and return their number."""
        before = self.clock.now() - timedelta(days=self.settings.INVITATION_KEEP_DAYS)
        return delete_in_batches(
            self.session, Invitation, Invitation.expires_at < before, batch=batch
        )

    def _report(self, action: Action, invitation: Invitation, **data: str) -> None:
        target = Target("invitation", invitation.id)
        workspace_id = invitation.workspace_id
        report_action(
            self.session, action, invitation, workspace_id=workspace_id, target=target, **data
        )

    def _lock(self, actor: Member, invitation_id: int) -> Invitation:
        """Lock the workspace and return the open invitation, if the actor may manage it."""
        manager = self.members.manager(actor)
        invitation = self.session.scalar(
            select(Invitation)
            .where(Invitation.id == invitation_id, Invitation.workspace_id == manager.workspace_id)
            .execution_options(populate_existing=True)
        )
        if invitation is None:
            raise InvitationNotFound
        self.members.check_may_manage(manager, invitation.type)
        if not invitation.is_open(self.clock.now()):
            raise InvitationClosed
        return invitation

    def _check_not_members(self, workspace_id: int, addresses: Sequence[str]) -> None:
        """Raise AlreadyAMember. Every member may know the addresses of members."""
        account: Any = self.accounts.model
        found = self.session.scalars(
            select(account.email)
            .join(Member, Member.account_id == account.id)
            .where(Member.workspace_id == workspace_id, account.email.in_(addresses))
            .order_by(account.email)
        ).all()
        if found:
            raise AlreadyAMember(members={"emails": list(found)})

    def _pending(self, workspace_id: int, addresses: Sequence[str]) -> dict[str, Invitation]:
        """Store the state of expired invitations, and return the pending ones by address."""
        where = (Invitation.workspace_id == workspace_id, Invitation.state == PENDING)
        expired = update(Invitation).where(*where, Invitation.expires_at <= self.clock.now())
        execute_bulk(self.session, expired.values(state=EXPIRED))
        rows = self.session.scalars(
            select(Invitation)
            .where(*where, Invitation.email.in_(addresses))
            .execution_options(populate_existing=True)
        )
        return {invitation.email: invitation for invitation in rows}

    def _check_limit(self, workspace_id: int, more: int) -> None:
        pending = self.session.scalar(
            select(func.count(Invitation.id)).where(
                Invitation.workspace_id == workspace_id, Invitation.state == PENDING
            )
        )
        if more and (pending or 0) + more > self.settings.PENDING_LIMIT:
            raise QuotaReached("The workspace has the maximum number of pending invitations")

    def _new(self, workspace_id: int, email: str) -> Invitation:
        now = self.clock.now()
        return Invitation(
            workspace_id=workspace_id,
            email=email,
            state=PENDING,
            sends=0,
            expires_at=now,
            created_at=now,
        )

    def _seconds_until_resend(self, invitation: Invitation) -> int:
        """Return the seconds until the invitation may be sent again."""
        if invitation.sent_at is None:
            return 0
        left = invitation.sent_at + SEND_INTERVAL - self.clock.now()
        return max(0, math.ceil(left.total_seconds()))

    def _send(self, invitation: Invitation) -> Email:
        """Send the email after the commit, and extend the expiry."""
        now = self.clock.now()
        invitation.sends += 1
        invitation.sent_at = now
        invitation.expires_at = now + timedelta(days=self.settings.INVITATION_DAYS)
        workspace = self.session.get_one(Workspace, invitation.workspace_id)
        inviter = self.accounts.by_id(invitation.inviter_id)
        email = self.render(invitation, workspace, inviter.email if inviter else "")
        after_commit(self.session, lambda: self.one_off_mail.send_soon(email))
        return email

    def _rows(self, invitations: Sequence[Invitation]) -> Sequence[InvitationRow]:
        self.session.flush()
        ids = [invitation.id for invitation in invitations]
        rows = select_invitations(self.accounts.model).where(Invitation.id.in_(ids))
        found = {
            each.invitation.id: each
            for each in read_invitations(self.session, rows, self.clock.now())
        }
        return [found[invitation_id] for invitation_id in ids]


def _addresses(emails: Mapping[str, str]) -> Sequence[str]:
    """Return valid addresses, each once, in the given order. Raises Invalid with all others."""
    found: dict[str, None] = {}
    faults = []
    for field, text in emails.items():
        try:
            found[read_email(text.strip())] = None
        except InvalidEmail:
            faults.append(Fault.of("", field, InvalidEmail.message))
    if faults:
        raise Invalid(faults=faults)
    return list(found)
