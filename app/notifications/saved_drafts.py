"""Drafts of broadcasts. An admin sees only the own drafts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, func, select, update

from ..core.clock import Clock
from ..core.data_export import DataSubject, ExportReader
from ..core.db.pruning import delete_in_batches, delete_rows
from ..core.db.transaction import AnySession, transaction
from ..core.errors import QuotaReached
from ..core.types import AccountKey, JsonObject
from .errors import DraftNotFound
from .models import TITLE_LENGTH, SavedDraft

MAX_DRAFTS = 100
BATCH_DRAFTS = 1_000


@dataclass(eq=False)
class SavedDrafts:
    session: AnySession
    clock: Clock
    keep_days: int | None

    def list(self, account_id: AccountKey) -> Sequence[Row[int, str, datetime]]:
        """Return the id, title and time of each draft, the newest first."""
        columns = select(SavedDraft.id, SavedDraft.title, SavedDraft.updated_at)
        own = columns.where(SavedDraft.account_id == account_id)
        return self.session.execute(own.order_by(SavedDraft.updated_at.desc())).all()

    def get(self, account_id: AccountKey, draft_id: int) -> JsonObject:
        """Return the content of a draft."""
        own = (SavedDraft.account_id == account_id, SavedDraft.id == draft_id)
        content = self.session.scalar(select(SavedDraft.content).where(*own))
        if content is None:
            raise DraftNotFound
        return content

    def save(
        self, account_id: AccountKey, title: str, content: JsonObject, draft_id: int | None = None
    ) -> int:
        """Replace a draft, or save a new one, and return its id."""
        values = {"title": title[:TITLE_LENGTH], "content": content, "updated_at": self.clock.now()}
        own = SavedDraft.account_id == account_id
        with transaction(self.session) as session:
            if draft_id is not None:
                replaced = update(SavedDraft).where(own, SavedDraft.id == draft_id).values(values)
                if session.scalar(replaced.returning(SavedDraft.id)) is not None:
                    return draft_id
            count = session.scalar(select(func.count()).select_from(SavedDraft).where(own)) or 0
            if count >= MAX_DRAFTS:
                raise QuotaReached
            draft = SavedDraft(account_id=account_id, **values)
            session.add(draft)
            session.flush()
            return draft.id

    def delete(self, account_id: AccountKey, draft_id: int) -> None:
        own = (SavedDraft.account_id == account_id, SavedDraft.id == draft_id)
        with transaction(self.session) as session:
            delete_rows(session, SavedDraft, *own)

    def prune(self) -> int:
        """Delete the drafts that have not changed for the configured number of days."""
        if self.keep_days is None:
            return 0
        before = self.clock.now() - timedelta(days=self.keep_days)
        is_old = SavedDraft.updated_at < before
        return delete_in_batches(self.session, SavedDraft, is_old, batch=BATCH_DRAFTS)


def export_drafts(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(SavedDraft):
        found = select(SavedDraft.id, SavedDraft.updated_at, SavedDraft.content).where(
            SavedDraft.account_id == subject.id
        )
        yield "broadcast_drafts.jsonl", reader.rows(found)
