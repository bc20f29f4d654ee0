"""An account's memberships and invitations in its data export."""

from collections.abc import Iterator

from sqlalchemy import or_, select

from ..core.data_export import DataSubject, ExportQuery, ExportReader
from ..core.types import AccountKey
from .invitations.models import Invitation
from .models import Member, Workspace


def export_workspaces(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(Member, Workspace):
        yield "workspaces.jsonl", reader.rows(_workspaces(subject.id))
    if reader.has(Invitation, Workspace):
        yield "invitations.jsonl", reader.rows(_invitations(subject.id, subject.email))


def _workspaces(account_id: AccountKey) -> ExportQuery:
    return (
        select(
            Member.id,
            Workspace.slug,
            Workspace.name,
            Workspace.is_personal,
            Member.type,
            Member.status,
            Member.created_at,
        )
        .join(Workspace, Workspace.id == Member.workspace_id)
        .where(Member.account_id == account_id)
    )


def _invitations(account_id: AccountKey, email: str | None) -> ExportQuery:
    """Select the invitations that the account sent or its verified address received."""
    sent = Invitation.inviter_id == account_id
    return (
        select(
            Invitation.id,
            Workspace.slug.label("workspace"),
            Invitation.email,
            Invitation.type,
            Invitation.message,
            Invitation.state,
            Invitation.created_at,
            Invitation.expires_at,
        )
        .join(Workspace, Workspace.id == Invitation.workspace_id)
        .where(sent if email is None else or_(sent, Invitation.email == email))
    )
