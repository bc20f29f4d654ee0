"""What admins save for their broadcasts: drafts, which only their author sees, and segments, which
are audiences with a name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, delete, select, update

from ..core.actions import Target
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.data_export import DataSubject, ExportReader
from ..core.db.account_ids import IdKind
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession, insert_new, transaction
from ..core.errors import Invalid, NotFound
from ..core.limits import check_quota
from ..core.types import AccountKey, JsonObject
from ..notifications.actions import SEGMENT_CREATED, SEGMENT_DELETED
from ..notifications.models import TITLE_LENGTH
from ..notifications.receivers import Audience
from .models import SavedDraft, Segment

MAX_DRAFTS = 100
BATCH_DRAFTS = 1_000
MAX_SEGMENTS = 200


class SegmentNotFound(NotFound):
    code = "segment_not_found"
    detail = "Segment not found"
    title = "The segment does not exist"
    cause = "No saved segment has this id: another administrator may have deleted it."
    fix = "Choose another segment."


class DraftNotFound(NotFound):
    code = "draft_not_found"
    detail = "Draft not found"
    title = "The draft does not exist"
    cause = "The caller has no draft of a broadcast with this id."
    fix = "Open a draft in the list of broadcasts."


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
            check_quota(session, SavedDraft, account_id, MAX_DRAFTS, own)
            draft = SavedDraft(account_id=account_id, **values)
            session.add(draft)
            session.flush()
            return draft.id

    def delete(self, account_id: AccountKey, draft_id: int) -> bool:
        """Return whether the draft existed: of two requests at once, one deletes it."""
        own = (SavedDraft.account_id == account_id, SavedDraft.id == draft_id)
        with transaction(self.session) as session:
            deleted = delete(SavedDraft).where(*own).returning(SavedDraft.id)
            return session.scalar(deleted) is not None

    def prune(self) -> int:
        """Delete the drafts that have not changed for the configured number of days."""
        if self.keep_days is None:
            return 0
        before = self.clock.now() - timedelta(days=self.keep_days)
        is_old = SavedDraft.updated_at < before
        return delete_in_batches(self.session, SavedDraft, is_old, batch=BATCH_DRAFTS)


@dataclass(eq=False)
class Segments:
    session: AnySession
    clock: Clock
    ids: IdKind

    def list(self) -> Sequence[Segment]:
        return self.session.scalars(select(Segment).order_by(Segment.name)).all()

    def names(self) -> Sequence[tuple[int, str]]:
        """Return the ids and names without the audiences, which can list many accounts."""
        rows = self.session.execute(select(Segment.id, Segment.name).order_by(Segment.name))
        return [(segment_id, name) for segment_id, name in rows]

    def audience(self, segment: Segment) -> Audience:
        return Audience.from_json(segment.audience, self.ids)

    def get(self, segment_id: int) -> Segment:
        segment = self.session.get(Segment, segment_id)
        if segment is None:
            raise SegmentNotFound
        return segment

    def save(self, name: str, audience: Audience) -> None:
        """Save an audience under a new name; raise Invalid for a name that another segment has."""
        with transaction(self.session) as session:
            check_quota(session, Segment, "", MAX_SEGMENTS)
            values = {"name": name, "audience": audience.to_json(), "created_at": self.clock.now()}
            segment = insert_new(session, Segment, **values)
            if segment is None:
                raise Invalid.about("name", CodedMessage("Another segment has this name.", "taken"))
            report_action(session, SEGMENT_CREATED, target=Target("segment", segment.id), name=name)

    def delete(self, segment_id: int) -> None:
        with transaction(self.session) as session:
            deleted = delete(Segment).where(Segment.id == segment_id).returning(Segment.name)
            name = session.scalar(deleted)
            if name is None:
                raise SegmentNotFound
            report_action(session, SEGMENT_DELETED, target=Target("segment", segment_id), name=name)


def export_drafts(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(SavedDraft):
        found = select(SavedDraft.id, SavedDraft.updated_at, SavedDraft.content).where(
            SavedDraft.account_id == subject.id
        )
        yield "broadcast_drafts.jsonl", reader.rows(found)
