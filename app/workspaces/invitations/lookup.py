"""Queries for invitations with the columns that are shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from ...core.db.transaction import AnySession
from ..members import ListedMember
from ..models import Member, Workspace
from .models import EXPIRED, PENDING, Invitation

# The status of an invited member in the response to `POST …/members`.
INVITED = "invited"


class InvitationRow(NamedTuple):
    invitation: Invitation
    workspace: Workspace
    # The inviter's email address; None if the account was deleted.
    inviter: str | None
    state: str
    # Read only for a caller with the emailed token.
    account_exists: bool | None = None

    def as_member(self) -> ListedMember:
        """Return a member without membership or account, even if the address has an account."""
        member = Member(
            workspace_id=self.workspace.id,
            type=self.invitation.type,
            status=INVITED,
            created_at=self.invitation.created_at,
        )
        return ListedMember(member, self.invitation.email)


def select_invitations(account: Any) -> Select[Any]:
    return (
        select(Invitation, Workspace, account.email)
        .join(Workspace, Workspace.id == Invitation.workspace_id)
        .outerjoin(account, account.id == Invitation.inviter_id)
    )


def read_invitations(
    session: AnySession, rows: Select[Any], now: datetime
) -> Sequence[InvitationRow]:
    return [
        InvitationRow(invitation, workspace, inviter, invitation.state_at(now))
        for invitation, workspace, inviter in session.execute(rows)
    ]


def select_open_count() -> Select[int]:
    """Return the query for the number of open invitations to the parameter `email` at `now`."""
    return (
        select(func.count())
        .select_from(Invitation)
        .where(Invitation.email == bindparam("email"), in_state(PENDING, bindparam("now")))
    )


def in_state(state: str, now: object) -> ColumnElement[bool]:
    if state == PENDING:
        return and_(Invitation.state == PENDING, Invitation.expires_at > now)
    if state == EXPIRED:
        is_over = and_(Invitation.state == PENDING, Invitation.expires_at <= now)
        return or_(Invitation.state == EXPIRED, is_over)
    return Invitation.state == state
