"""What recipients have chosen, for the queue: preferences, and notifications that they read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, case, literal, not_, select

from ..core.db.base import autocommit_engine
from ..core.db.id_lists import is_one_of
from ..core.db.transaction import AnySession
from ..core.types import AccountKey
from ..delivery.channel import ClaimedMessage
from ..delivery.message import EMAIL, Subject
from .kinds import NotificationKinds
from .models import SUBJECT, InboxItem
from .optouts import OptOut, find_opted_out
from .unsubscribe import BLUEPRINT as UNSUBSCRIBE
from .unsubscribe import Subscription, UnsubscribeLinks

# The reasons of skipped deliveries.
OPTED_OUT, READ_BEFORE = "Opted out", "Read before"
# The blueprints with preferences.
HAVE_PREFERENCES = frozenset(("notifications", UNSUBSCRIBE))


@dataclass(frozen=True)
class Choices:
    """Implements `RecipientChoices` of the queue."""

    session: AnySession
    database: Engine
    kinds: NotificationKinds
    links: UnsubscribeLinks
    # The page of the preferences.
    page: str
    # The names of the blueprints that are mounted.
    mounted: Collection[str]

    def skip_opted_out(
        self, receivers: Select[Any], reason: ColumnElement[Any], kind: str | None, channel: str
    ) -> tuple[Select[Any], ColumnElement[Any]]:
        if not self._is_optional(kind):
            return receivers, reason
        # If no account has turned the kind off, the query does not change: a join costs each row.
        is_off = (OptOut.kind == kind, OptOut.channel == channel)
        if self.session.scalar(select(literal(1)).where(*is_off).limit(1)) is None:
            return receivers, reason
        [receiver_id] = receivers.selected_columns
        joined = receivers.outerjoin(OptOut, and_(OptOut.account_id == receiver_id, *is_off))
        return joined, case((OptOut.account_id.is_not(None), OPTED_OUT), else_=reason)

    def skip_reasons(self, channel: str, claimed: Sequence[ClaimedMessage]) -> Mapping[int, str]:
        optional = [each for each in claimed if self._is_optional(each.message.kind)]
        delayed = [each for each in claimed if channel == EMAIL and _is_delayed(each)]
        reasons: dict[int, str] = {}
        if not (optional or delayed):
            return reasons
        with autocommit_engine(self.database).connect() as connection:
            if delayed:
                unread = _find_unread(connection, delayed)
                for each in delayed:
                    if (each.message.subject, each.account_id) not in unread:
                        reasons[each.delivery_id] = READ_BEFORE
            if optional:
                kinds = {each.message.kind for each in optional}
                off = find_opted_out(connection, channel, kinds, _account_ids(optional))
                for each in optional:
                    if (each.message.kind, each.account_id) in off:
                        reasons[each.delivery_id] = OPTED_OUT
        return reasons

    def preferences_url(self, kind: str | None) -> str | None:
        return self.page if self._is_optional(kind) else None

    def unsubscribe_url(self, account_id: AccountKey, kind: str | None, channel: str) -> str | None:
        if kind is None or not self._is_optional(kind):
            return None
        return self.links.url(Subscription(account_id, kind, channel))

    def _is_optional(self, kind: str | None) -> bool:
        # Without a blueprint with preferences, their table does not exist.
        if kind is None or HAVE_PREFERENCES.isdisjoint(self.mounted):
            return False
        declared = self.kinds.get(kind)
        return declared is None or not declared.mandatory


def _is_delayed(claimed: ClaimedMessage) -> bool:
    return claimed.message.email_if_unread_at is not None


def _account_ids(claimed: Sequence[ClaimedMessage]) -> set[AccountKey]:
    return {each.account_id for each in claimed}


def _find_unread(
    connection: Connection, claimed: Sequence[ClaimedMessage]
) -> set[tuple[Subject, AccountKey]]:
    """Return the notifications that their recipients still have unread in their inbox."""
    receiver_id: Any = InboxItem.receiver_id
    subjects = {each.message.subject for each in claimed}
    rows = select(InboxItem.notification_id, receiver_id).where(
        InboxItem.notification_id.in_([each.id for each in subjects if each is not None]),
        is_one_of(receiver_id, _account_ids(claimed), connection.dialect),
        not_(InboxItem.is_read),
    )
    return {
        (Subject(SUBJECT, number), account_id) for number, account_id in connection.execute(rows)
    }
