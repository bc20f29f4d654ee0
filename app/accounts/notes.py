"""Notes that admins write about an account."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Index, String, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from ..core.clock import Clock
from ..core.context import report_action
from ..core.data_export import DataSubject, ExportReader
from ..core.db.base import Base, Id, UtcDateTime, account_key
from ..core.db.transaction import AnySession, transaction
from ..core.errors import NotFound
from ..core.limits import check_quota
from ..core.types import AccountKey, AccountModel
from .actions import ACCOUNT_NOTE_ADDED, ACCOUNT_NOTE_DELETED
from .errors import AccountNotFound
from .models import AccountLike

TEXT_LENGTH = 2_000
# All notes of an account are on one page.
MAX_NOTES = 100


class AccountNote(Base):
    __tablename__ = "frontdesk_account_notes"
    __table_args__ = (
        Index("ix_frontdesk_account_notes_account_id", "account_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    # Not a foreign key: a note outlives the account of its author.
    author_id: Mapped[AccountKey] = account_key(ondelete=None)
    text: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ListedNote(NamedTuple):
    """A note with the email address of its author; empty if that account was deleted."""

    note: AccountNote
    author: str


@dataclass(eq=False)
class AccountNotes:
    session: AnySession
    model: AccountModel
    clock: Clock

    def list(self, account_id: AccountKey) -> Sequence[ListedNote]:
        """Return the notes about an account, the newest first."""
        model = self.model
        rows = self.session.execute(
            select(AccountNote, model.email)
            .outerjoin(model, model.id == AccountNote.author_id)
            .where(AccountNote.account_id == account_id)
            .order_by(AccountNote.id.desc())
        )
        return [ListedNote(note, email or "") for note, email in rows]

    def count(self, account_id: AccountKey) -> int:
        about = AccountNote.account_id == account_id
        return self.session.scalar(select(func.count()).where(about)) or 0

    def add(self, author_id: AccountKey, account_id: AccountKey, text: str) -> None:
        about = AccountNote.account_id == account_id
        with transaction(self.session) as session:
            if session.get(self.model, account_id) is None:
                raise AccountNotFound
            check_quota(session, AccountNote, account_id, MAX_NOTES, about)
            session.add(
                AccountNote(
                    account_id=account_id,
                    author_id=author_id,
                    text=text,
                    created_at=self.clock.now(),
                )
            )
            report_action(session, ACCOUNT_NOTE_ADDED, account_id=account_id)

    def delete(
        self, actor: AccountLike, account_id: AccountKey, note_id: int, *, of_others: bool
    ) -> None:
        """Delete a note of the actor, or with `of_others` any note about the account. Raise
        NotFound if there is no such note."""
        which = [AccountNote.id == note_id, AccountNote.account_id == account_id]
        if not of_others:
            which.append(AccountNote.author_id == actor.id)
        with transaction(self.session) as session:
            deleted = delete(AccountNote).where(*which).returning(AccountNote.id)
            if session.scalar(deleted) is None:
                raise NotFound
            report_action(session, ACCOUNT_NOTE_DELETED, account_id=account_id)


def export_notes(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    """Yield the notes about the account, without their authors."""
    if reader.has(AccountNote):
        found = select(AccountNote.id, AccountNote.text, AccountNote.created_at)
        yield "notes.jsonl", reader.rows(found.where(AccountNote.account_id == subject.id))
