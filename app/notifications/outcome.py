"""The results of a notification's deliveries, and the retry of failed ones."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.transaction import transaction
from ..core.types import AccountKey, AccountModel, JsonObject
from ..core.web.paging import Slice
from ..delivery.message import Subject
from ..delivery.outbox.enqueue import Outbox
from ..delivery.outbox.models import Delivery, OutgoingMessage, is_about
from .expansions import Expansions
from .models import SUBJECT
from .sent import SentNotifications


@dataclass(eq=False)
class Outcome:
    sent: SentNotifications
    outbox: Outbox
    expansions: Expansions
    account_model: AccountModel
    ids: IdKind

    def deliveries(
        self,
        sender_id: AccountKey,
        notification_id: int,
        *,
        state: str,
        limit: int,
        channel: str | None = None,
        after: int | None = None,
    ) -> Slice:
        """Of one state, in the order in which they were put up."""
        self.sent.check(sender_id, notification_id)
        messages = select(OutgoingMessage.id).where(is_about(Subject(SUBJECT, notification_id)))
        names = ("id", "receiver_id", "channel", "state", "attempts", "reason", "finished_at")
        query = (
            select(*(getattr(Delivery, name) for name in names))
            .where(Delivery.outgoing_id.in_(messages), Delivery.state == state)
            .order_by(Delivery.id)
            .limit(limit + 1)
        )
        if channel is not None:
            query = query.where(Delivery.channel == channel)
        if after is not None:
            query = query.where(Delivery.id > after)
        rows = [dict(row) for row in self.sent.session.execute(query).mappings()]
        page = self._named(rows[:limit])
        return Slice(page, after=str(page[-1]["id"]) if len(rows) > limit else None)

    def retry(self, sender_id: AccountKey, notification_id: int) -> int:
        self.sent.check(sender_id, notification_id)
        with transaction(self.sent.session):
            self.expansions.retry(notification_id)
            return self.outbox.retry(subject=Subject(SUBJECT, notification_id))

    def _named(self, rows: list[JsonObject]) -> list[JsonObject]:
        """With the address of each receiver that is still there."""
        model = self.account_model
        ids = {row["receiver_id"]: self.ids.from_text(row["receiver_id"]) for row in rows}
        found = self.sent.session.execute(
            select(model.id, model.email).where(model.id.in_(list(ids.values())))
        )
        emails = {serialize_id(account_id): email for account_id, email in found}
        for row in rows:
            receiver = serialize_id(ids[row["receiver_id"]])
            row |= {"receiver_id": receiver, "email": emails.get(receiver)}
        return rows
