from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
from ...core.db.transaction import after_commit, transaction
from ...core.errors import Invalid, QuotaReached
from ...delivery.mail.one_off import OneOffMail
from ...delivery.message import Email
from ..actions import INVITATION_CREATED, INVITATION_RENEWED, INVITATION_RESENT, INVITATION_REVOKED
from ..errors import AlreadyAMember
from ..members import Members
from ..models import Member, Workspace
from ..settings import WorkspacesSettings
from .lookup import InvitationRow, in_state, invited_rows, read_invited
from .mails import InvitationMails, InvitationRate
from .models import EXPIRED, PENDING, REVOKED, Invitation
from .schemas import InvitationClosed, InvitationNotFound, TooManyInvitations

# One invitation is mailed at most so often, and at most once in this time.
MOST_SENDS = 5
BETWEEN_SENDS = timedelta(minutes=1)


@dataclass(eq=False)
class Invitations(BasicService):
    """Whom a workspace invites. The actor is the member who asks.

    Every change holds the workspace's row, as those of its members do. Whether an address has an
    account is not looked at.
    """

    accounts: Accounts
    members: Members
    rate: InvitationRate
    mails: InvitationMails
    one_off_mail: OneOffMail
    settings: WorkspacesSettings

    def page(
        self, workspace_id: int, offset: int, limit: int, state: str | None = None
    ) -> Sequence[InvitationRow]:
        now = self.clock.now()
        rows = invited_rows(self.accounts.model).where(Invitation.workspace_id == workspace_id)
        if state is not None:
            rows = rows.where(in_state(state, now))
        newest_first = rows.order_by(Invitation.id.desc()).offset(offset).limit(limit)
        return read_invited(self.session, newest_first, now)

    def addresses(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the email addresses of the invitations that still exist, by their ids."""
        wanted = set(ids)
        if not wanted:
            return {}
        rows = self.session.execute(
            select(Invitation.id, Invitation.email).where(Invitation.id.in_(wanted))
        )
        return {row[0]: row[1] for row in rows}

    def invite(
        self, actor: Member, emails: Mapping[str, str], kind: str, message: str | None = None
    ) -> Sequence[InvitationRow]:
        """Each address is named by the field that carries it. One that waits already waits on, as
        what is said now, and is mailed again unless that has been done enough."""
        addresses = _addresses(emails)
        rate = self.rate.counted(actor.account_id, len(addresses))
        with rate as mails, transaction(self.session):
            manager = self.members.manager(actor)
            self.members.allow(manager, kind)
            self._refuse_members(manager.workspace_id, addresses)
            waiting = self._waiting(manager.workspace_id, addresses)
            for invitation in waiting.values():
                self.members.allow(manager, invitation.type)
            self._keep_within_limit(manager.workspace_id, len(addresses) - len(waiting))
            new = {
                email: self._new(manager.workspace_id, email)
                for email in addresses
                if email not in waiting
            }
            invited = [waiting.get(email) or new[email] for email in addresses]
            for invitation in invited:
                invitation.inviter_id, invitation.type = manager.account_id, kind
                invitation.message = message
            self.session.add_all(new.values())
            self.session.flush()
            for invitation in invited:
                is_new = invitation.email in new
                action = INVITATION_CREATED if is_new else INVITATION_RENEWED
                self._report(action, invitation, type=kind)
            for invitation in invited:
                if not self._wait(invitation) and invitation.sends < MOST_SENDS:
                    mails.append(self._mail(invitation))
            return self._shown(invited)

    def resend(self, actor: Member, invitation_id: int) -> InvitationRow:
        with self.rate.counted(actor.account_id, 1) as mails, transaction(self.session):
            invitation = self._hold(actor, invitation_id)
            if invitation.sends >= MOST_SENDS:
                raise QuotaReached("This invitation was mailed as often as is allowed")
            if seconds := self._wait(invitation):
                raise TooManyInvitations(seconds)
            invitation.inviter_id = actor.account_id
            self._report(INVITATION_RESENT, invitation)
            mails.append(self._mail(invitation))
            return self._shown([invitation])[0]

    def revoke(self, actor: Member, invitation_id: int) -> InvitationRow:
        with transaction(self.session):
            invitation = self._hold(actor, invitation_id)
            invitation.state = REVOKED
            self._report(INVITATION_REVOKED, invitation)
            return self._shown([invitation])[0]

    def prune(self, batch: int = 1_000) -> int:
        """Delete invitations that expired long ago, however they were answered."""
        before = self.clock.now() - timedelta(days=self.settings.INVITATION_KEEP_DAYS)
        return delete_in_batches(
            self.session, Invitation, Invitation.expires_at < before, batch=batch
        )

    def _report(self, action: Action, invitation: Invitation, **data: object) -> None:
        target = Target("invitation", invitation.id)
        workspace_id = invitation.workspace_id
        report_action(
            self.session, action, invitation, workspace_id=workspace_id, target=target, **data
        )

    def _hold(self, actor: Member, invitation_id: int) -> Invitation:
        """The open invitation, if it is this workspace's and the actor's to manage."""
        manager = self.members.manager(actor)
        invitation = self.session.scalar(
            select(Invitation)
            .where(Invitation.id == invitation_id, Invitation.workspace_id == manager.workspace_id)
            .execution_options(populate_existing=True)
        )
        if invitation is None:
            raise InvitationNotFound
        self.members.allow(manager, invitation.type)
        if not invitation.is_open(self.clock.now()):
            raise InvitationClosed
        return invitation

    def _refuse_members(self, workspace_id: int, addresses: Sequence[str]) -> None:
        """Raise if the address is a member, which every member may know."""
        account: Any = self.accounts.model
        found = self.session.scalars(
            select(account.email)
            .join(Member, Member.account_id == account.id)
            .where(Member.workspace_id == workspace_id, account.email.in_(addresses))
            .order_by(account.email)
        ).all()
        if found:
            raise AlreadyAMember(members={"emails": list(found)})

    def _waiting(self, workspace_id: int, addresses: Sequence[str]) -> dict[str, Invitation]:
        """Return the open invitations, after expired ones are marked."""
        here = (Invitation.workspace_id == workspace_id, Invitation.state == PENDING)
        self.session.execute(
            update(Invitation)
            .where(*here, Invitation.expires_at <= self.clock.now())
            .values(state=EXPIRED)
            .execution_options(synchronize_session=False)
        )
        rows = self.session.scalars(
            select(Invitation)
            .where(*here, Invitation.email.in_(addresses))
            .execution_options(populate_existing=True)
        )
        return {invitation.email: invitation for invitation in rows}

    def _keep_within_limit(self, workspace_id: int, more: int) -> None:
        pending = self.session.scalar(
            select(func.count(Invitation.id)).where(
                Invitation.workspace_id == workspace_id, Invitation.state == PENDING
            )
        )
        if more and (pending or 0) + more > self.settings.PENDING_LIMIT:
            raise QuotaReached("As many invitations as are allowed wait for an answer")

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

    def _wait(self, invitation: Invitation) -> int:
        """Seconds until it may be mailed again."""
        if invitation.sent_at is None:
            return 0
        left = invitation.sent_at + BETWEEN_SENDS - self.clock.now()
        return max(0, math.ceil(left.total_seconds()))

    def _mail(self, invitation: Invitation) -> Email:
        """Mails it once the transaction stands, and prolongs it."""
        now = self.clock.now()
        invitation.sends += 1
        invitation.sent_at = now
        invitation.expires_at = now + timedelta(days=self.settings.INVITATION_DAYS)
        workspace = self.session.get_one(Workspace, invitation.workspace_id)
        inviter = self.accounts.by_id(invitation.inviter_id)
        mail = self.mails.invitation(invitation, workspace, inviter.email if inviter else "")
        after_commit(self.session, lambda: self.one_off_mail.send_soon(mail))
        return mail

    def _shown(self, invited: Sequence[Invitation]) -> Sequence[InvitationRow]:
        """In the order in which they were asked for."""
        self.session.flush()
        ids = [invitation.id for invitation in invited]
        rows = invited_rows(self.accounts.model).where(Invitation.id.in_(ids))
        found = {
            each.invitation.id: each for each in read_invited(self.session, rows, self.clock.now())
        }
        return [found[invitation_id] for invitation_id in ids]


def _addresses(emails: Mapping[str, str]) -> Sequence[str]:
    """Each once, in the order given."""
    found: dict[str, None] = {}
    for field, text in emails.items():
        try:
            found[read_email(text.strip())] = None
        except InvalidEmail:
            raise Invalid.about(field, InvalidEmail.detail) from None
    return list(found)
