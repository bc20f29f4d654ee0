"""The notes of a workspace: members list, pin and delete notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint
from flask_frontdesk import (
    Member,
    Page,
    Problem,
    UtcDateTime,
    active_account_required,
    active_member_required,
    answers,
    current_member,
    current_workspace,
    takes,
)
from marshmallow import Schema, fields, validate
from sqlalchemy import ForeignKey, String, select
from sqlalchemy.orm import Mapped, mapped_column

from .extensions import frontdesk
from .models import Base, db


def _now() -> datetime:
    return datetime.now(UTC)


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE"), index=True
    )
    author_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(String(500))
    pinned_at: Mapped[datetime] = mapped_column(UtcDateTime, default=_now)


notes = Blueprint("notes", __name__)
PINNED = frontdesk.notification_kind("notes", name="Notes", description="New notes of others.")


# [schemas]
class NoteCreate(Schema):
    text = fields.String(required=True, validate=validate.Length(min=1, max=500))


class NoteRead(Schema):
    id = fields.Integer(required=True)
    author_id = fields.Integer(required=True)
    text = fields.String(required=True)
    pinned_at = fields.AwareDateTime(required=True)


# [end]


# [list]
@notes.get("/")
@active_account_required
@active_member_required
@takes(query=Page)
@answers(200, NoteRead, paged=True)
def list_notes(workspace_slug: str, query: dict[str, Any]) -> Sequence[Note]:
    """List a workspace's notes"""
    newest_first = (
        select(Note).where(Note.workspace_id == current_workspace.id).order_by(Note.id.desc())
    )
    page = newest_first.offset(query["offset"]).limit(query["limit"])
    return db.session.scalars(page).all()


# [end]


# [pin]
@notes.post("/")
@active_account_required
@active_member_required
@takes(json=NoteCreate)
@answers(201, NoteRead)
def pin_note(workspace_slug: str, json: dict[str, Any]) -> Note:
    """Pin a note and notify the other members"""
    author = frontdesk.current_account
    with frontdesk.transaction():
        note = Note(workspace_id=current_workspace.id, author_id=author.id, text=json["text"])
        db.session.add(note)
        others = select(Member.account_id).where(
            Member.workspace_id == current_workspace.id, Member.account_id != author.id
        )
        if receivers := db.session.scalars(others).all():
            frontdesk.notify(
                f"{author.name or author.email} pinned a note",
                json["text"],
                kind=PINNED,
                url=f"/workspaces/{workspace_slug}",
                workspace=current_workspace,
                receivers=receivers,
            )
    return note


# [end]


# [delete]
class NoteNotFound(Problem):
    status = 404
    code = "note_not_found"
    detail = "Note not found"


class NotYours(Problem):
    status = 403
    code = "not_yours"
    detail = "Only the author, an owner or an admin can delete a note"


@notes.delete("/<int:note_id>")
@active_account_required
@active_member_required
@answers(200, NoteRead)
def delete_note(workspace_slug: str, note_id: int) -> Note:
    """Delete a note"""
    with frontdesk.transaction():
        # Compare the workspace too: an id alone could name another tenant's note.
        note = db.session.scalar(
            select(Note).where(Note.id == note_id, Note.workspace_id == current_workspace.id)
        )
        if note is None:
            raise NoteNotFound
        is_mine = note.author_id == frontdesk.current_account.id
        if not is_mine and current_member.type not in ("owner", "admin"):
            raise NotYours
        db.session.delete(note)
    return note


# [end]
