"""Queries for invitations with the columns that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, or_, select

from ...core.db.transaction import AnySession
from ..members import ListedMember
from ..models import Member, Workspace
from .models import EXPIRED, PENDING, Invitation

# The status that an invited member is shown with, in the answer to who adds them.
INVITED = "invited"


class InvitationRow(NamedTuple):
    invitation: Invitation
    workspace: Workspace
    # The address of who invites; None where the account is gone.
    inviter: str | None
    state: str
    # Looked up only for who has the secret.
    account_exists: bool | None = None

    def as_listed(self) -> ListedMember:
        """As a member who is not one yet: without membership, and without account even where the
        address has one."""
        member = Member(
            workspace_id=self.workspace.id,
            type=self.invitation.type,
            status=INVITED,
            created_at=self.invitation.created_at,
        )
        return ListedMember(member, self.invitation.email)


def invited_rows(account: Any) -> Select[Any]:
    return (
        select(Invitation, Workspace, account.email)
        .join(Workspace, Workspace.id == Invitation.workspace_id)
        .outerjoin(account, account.id == Invitation.inviter_id)
    )


def read_invited(session: AnySession, rows: Select[Any], now: datetime) -> Sequence[InvitationRow]:
    return [
        InvitationRow(invitation, workspace, inviter, invitation.state_at(now))
        for invitation, workspace, inviter in session.execute(rows)
    ]


def in_state(state: str, now: datetime) -> ColumnElement[bool]:
    if state == PENDING:
        return and_(Invitation.state == PENDING, Invitation.expires_at > now)
    if state == EXPIRED:
        is_over = and_(Invitation.state == PENDING, Invitation.expires_at <= now)
        return or_(Invitation.state == EXPIRED, is_over)
    return Invitation.state == state
