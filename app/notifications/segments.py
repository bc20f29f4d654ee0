"""Audiences that admins have saved under a name."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select

from ..core.actions import Target
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.account_ids import IdKind
from ..core.db.transaction import AnySession, insert_new, transaction
from ..core.errors import Invalid, QuotaReached
from .actions import SEGMENT_CREATED, SEGMENT_DELETED
from .errors import SegmentNotFound
from .models import Segment
from .receivers import Audience

MAX_SEGMENTS = 200


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
            if (session.scalar(select(func.count()).select_from(Segment)) or 0) >= MAX_SEGMENTS:
                raise QuotaReached
            values = {"name": name, "audience": audience.to_json(), "created_at": self.clock.now()}
            segment = insert_new(session, Segment, **values)
            if segment is None:
                raise Invalid.about("name", "Another segment has this name.")
            report_action(session, SEGMENT_CREATED, target=Target("segment", segment.id), name=name)

    def delete(self, segment_id: int) -> None:
        with transaction(self.session) as session:
            deleted = delete(Segment).where(Segment.id == segment_id).returning(Segment.name)
            name = session.scalar(deleted)
            if name is None:
                raise SegmentNotFound
            report_action(session, SEGMENT_DELETED, target=Target("segment", segment_id), name=name)
