"""The notifications that admins have sent, with their counts and deliveries.

Methods with a `sender_id` read the broadcasts of this admin, the others those of all admins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, delete, null, select, union_all

from ..core.actions import Target
from ..core.coded_messages import CodedMessage
from ..core.context import find_context, report_action
from ..core.db.account_ids import serialize_id
from ..core.db.transaction import AnySession, execute_bulk, extended_timeout, lock_row, transaction
from ..core.errors import Invalid
from ..core.types import AccountKey, JsonObject
from ..core.web.paging import Slice, slice_of
from ..core.web.responses import field_names
from ..delivery.message import Subject
from ..delivery.outbox.models import SKIPPED, Delivery, OutgoingMessage, has_code, is_about
from ..notifications.actions import NOTIFICATION_DELETED, NOTIFICATION_STOPPED
from ..notifications.errors import NotificationNotFound
from ..notifications.keys import key_scope
from ..notifications.kinds import ANNOUNCEMENTS, INAPP
from ..notifications.models import ADMIN, IS_BROADCAST, SUBJECT, Notification, NotificationKey
from ..notifications.receivers import Audience
from ..notifications.retention import delete_messages
from ..notifications.schemas import NotificationCreate
from ..notifications.service import Draft, Notifications, default_channels
from .counts import NotificationCounter, NotificationCounts
from .expansions import Expansions
from .schemas import NotificationRow

# Values that are serialized as JSON without a schema.
SentItem = dict[str, Any]

# The maximum number of skipped deliveries that are read for the reasons of a channel.
_SAMPLE = 1000
# The newest broadcasts that a search reads: their titles have no index.
MAX_SEARCHED = 1000

# The columns of the notification's row; the other fields are counted.
_STORED = [name for name in field_names(NotificationRow) if hasattr(Notification, name)]


@dataclass(eq=False)
class SentNotifications:
    session: AnySession
    notifications: Notifications
    expansions: Expansions
    counter: NotificationCounter

    def send(
        self,
        sender_id: AccountKey,
        data: NotificationCreate.Input,
        to: Audience | Iterable[AccountKey] | None,
        *,
        is_personal: bool = False,
    ) -> tuple[SentItem, bool]:
        """Send an admin's notification; its channels must exist and include the inbox. Return it,
        and whether it was sent with its key before."""
        kind = self.notifications.find_kind(data.get("kind", ANNOUNCEMENTS), "data.")
        channels = data["channels"] if "channels" in data else default_channels(kind)
        self.notifications.check_exist(channels, "data.")
        if channels and INAPP not in channels:
            raise Invalid.about(
                "data.channels",
                CodedMessage(f"Must have {INAPP} among them.", "required", expected=INAPP),
            )
        self.notifications.check_channels(kind, channels, "data.")
        data = {**data, "channels": channels, "kind": kind.key}
        draft = Draft(**data, notification_type=ADMIN, sender_id=sender_id, is_personal=is_personal)
        sent = self.notifications.send(draft, to)
        assert sent.notification is not None
        counts = NotificationCounts(0, sent.deliveries)
        if sent.is_replay:
            counts = self.counter.count([sent.notification.id])[sent.notification.id]
        return sent_item(sent.notification, counts, draft.key), sent.is_replay

    def page(
        self,
        sender_id: AccountKey | None = None,
        *,
        limit: int,
        offset: int = 0,
        before: int | None = None,
        after: int | None = None,
    ) -> list[SentItem]:
        """Return a page, the newest first, or the oldest first of those `after` a notification.

        The counts of large notifications can be old, see `NotificationCounter`.
        """
        order = Notification.id.desc() if after is None else Notification.id.asc()
        query = _sent_by(sender_id).order_by(order).limit(limit).offset(offset)
        if before is not None:
            query = query.where(Notification.id < before)
        if after is not None:
            query = query.where(Notification.id > after)
        rows = self.session.execute(query).all()
        counts = self.counter.read(rows)
        return [sent_item(row, counts[row.id], row.key) for row in rows]

    def get(
        self, notification_id: int, sender_id: AccountKey | None = None, *, is_exact: bool = False
    ) -> SentItem:
        row = self._find(sender_id, notification_id)
        return sent_item(row, self.counter.read([row], is_exact=is_exact)[row.id], row.key)

    def delete(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        """Delete a notification with its inbox rows and its deliveries, also the unsent ones."""
        with transaction(self.session) as session, extended_timeout(self.session):
            row = self._find(sender_id, notification_id)
            item = sent_item(row, self.counter.count([row.id])[row.id], row.key)
            deleted = execute_bulk(
                session, delete(Notification).where(Notification.id == notification_id)
            )
            if not deleted.rowcount:
                raise NotificationNotFound  # another request has deleted it
            delete_messages(session, Subject(SUBJECT, notification_id))
            target = Target(SUBJECT, notification_id)
            report_action(session, NOTIFICATION_DELETED, target=target)
            return item

    def deliveries(
        self,
        sender_id: AccountKey | None,
        notification_id: int,
        *,
        state: str,
        limit: int,
        channel: str | None = None,
        before: int | None = None,
        after: int | None = None,
        reason: str | None = None,
    ) -> Slice:
        """Return the deliveries with this state, the oldest first: a page after the delivery with
        this id, or the page that ends `before` it. Without a sender, the notification can be of
        any admin. A reason is one that `reason_code` has shortened."""
        self._find(sender_id, notification_id)
        messages = select(OutgoingMessage.id).where(is_about(Subject(SUBJECT, notification_id)))
        names = ("id", "receiver_id", "channel", "state", "attempts", "reason", "finished_at")
        query = (
            select(*(getattr(Delivery, name) for name in names))
            .where(Delivery.outgoing_id.in_(messages), Delivery.state == state)
            .order_by(Delivery.id if before is None else Delivery.id.desc())
            .limit(limit + 1)
        )
        if channel is not None:
            query = query.where(Delivery.channel == channel)
        if reason is not None:
            query = query.where(*has_code(Delivery.reason, reason))
        if before is not None:
            query = query.where(Delivery.id < before)
        if after is not None:
            query = query.where(Delivery.id > after)
        rows = self.session.execute(query).mappings()
        return slice_of(
            self.add_emails([dict(row) for row in rows]),
            limit,
            lambda row: str(row["id"]),
            is_first=after is None,
            is_backward=before is not None,
            read_first=lambda: self.deliveries(
                sender_id, notification_id, state=state, limit=limit, channel=channel, reason=reason
            ),
        )

    def audience(self, notification_id: int) -> Audience | None:
        """Return the audience of a broadcast; None if its recipients were given as accounts, or if
        all accounts were recipients."""
        query = select(Notification.audience).where(Notification.id == notification_id)
        stored = self.session.scalar(query.where(IS_BROADCAST))
        kind = self.notifications.outbox.ids
        return None if stored is None else Audience.from_json(stored, kind)

    def skip_reasons(self, notification_id: int, channels: Iterable[str]) -> dict[str, list[str]]:
        """Return why deliveries of each channel were skipped, from a limited number of them."""
        messages = select(OutgoingMessage.id).where(is_about(Subject(SUBJECT, notification_id)))
        is_skipped = (Delivery.outgoing_id.in_(messages), Delivery.state == SKIPPED)
        columns = select(Delivery.channel, Delivery.reason)
        samples = [
            columns.where(*is_skipped, Delivery.channel == name).limit(_SAMPLE).subquery()
            for name in channels
        ]
        found: dict[str, list[str]] = {}
        if samples:
            selects = (select(each.c.channel, each.c.reason).distinct() for each in samples)
            rows = union_all(*selects)
            for channel, reason in self.session.execute(rows.order_by("reason")):
                found.setdefault(channel, []).append(reason or "")
        return found

    def titles(self, notification_ids: Iterable[int]) -> dict[int, str]:
        """Return the titles of broadcasts; other notifications are left out."""
        ids = list(notification_ids)
        if not ids:
            return {}
        query = select(Notification.id, Notification.title)
        rows = self.session.execute(query.where(Notification.id.in_(ids), IS_BROADCAST))
        return {row.id: row.title for row in rows}

    def named(self, search: str, limit: int) -> Sequence[Row[int, str]]:
        """Return the ids and titles of broadcasts with a text in the title, among the newest
        MAX_SEARCHED ones."""
        newest = select(Notification.id, Notification.title).where(IS_BROADCAST)
        some = newest.order_by(Notification.id.desc()).limit(MAX_SEARCHED).subquery()
        found = select(some.c.id, some.c.title).where(
            some.c.title.icontains(search, autoescape=True)
        )
        return self.session.execute(found.order_by(some.c.id.desc()).limit(limit)).all()

    def retry(self, sender_id: AccountKey, notification_id: int) -> int:
        """Retry the failed deliveries and return their number."""
        self._find(sender_id, notification_id)
        with transaction(self.session):
            self.expansions.retry(notification_id)
            return self.notifications.outbox.retry(subject=Subject(SUBJECT, notification_id))

    def stop(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        """Send nothing further, except what workers have claimed."""
        with transaction(self.session) as session, extended_timeout(self.session):
            self._find(sender_id, notification_id)
            # No worker stores a range until the end of the transaction.
            lock_row(session, Notification, Notification.id == notification_id)
            left = self.notifications.outbox.stop(Subject(SUBJECT, notification_id))
            if self.expansions.stop(notification_id, is_sending=left > 0):
                target = Target(SUBJECT, notification_id)
                report_action(session, NOTIFICATION_STOPPED, target=target)
        return self.get(notification_id, sender_id, is_exact=True)

    def _find(self, sender_id: AccountKey | None, notification_id: int) -> Row[Any]:
        query = _sent_by(sender_id).where(Notification.id == notification_id)
        row = self.session.execute(query).one_or_none()
        if row is None:
            raise NotificationNotFound
        return row

    def add_emails(self, rows: list[JsonObject]) -> list[JsonObject]:
        """Add the email address of each receiver; None if the account was deleted."""
        from_text = self.notifications.outbox.ids.from_text
        ids = [from_text(row["receiver_id"]) for row in rows]
        emails = self.notifications.accounts.rows.emails({*ids})
        for row, account_id in zip(rows, ids, strict=True):
            row |= {"receiver_id": serialize_id(account_id), "email": emails.get(account_id)}
        return rows


def sent_item(notification: object, counts: NotificationCounts, key: str | None) -> SentItem:
    stored = {name: getattr(notification, name) for name in _STORED}
    item = {**stored, "key": key, **counts._asdict()}
    url = item["url"]
    opened = None if url is None else find_context().settings.core.link_url(url)
    return {**item, "links": {"open": opened}}


def _sent_by(sender_id: AccountKey | None) -> Select[Any]:
    """Select the broadcasts of an admin, or of all (None), as rows: objects would be read again
    after each commit."""
    stored = [getattr(Notification, name) for name in _STORED]
    columns = (*stored, Notification.counts, Notification.counted_at)
    if sender_id is None:
        return select(*columns, null().label("key")).where(IS_BROADCAST)
    own = select(NotificationKey.key).where(
        NotificationKey.notification_id == Notification.id,
        NotificationKey.scope == key_scope(sender_id),
    )
    query = select(*columns, own.scalar_subquery().label("key"))
    return query.where(IS_BROADCAST, Notification.sender_id == sender_id)
