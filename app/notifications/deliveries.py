"""The deliveries of a notification: how they are stored, and how they stand."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, case, func, insert, literal, null, select

from ..core.transaction import AnySession
from ..delivery.channel import Channel
from ..delivery.models import FEW, MANY, PENDING, SKIPPED, STATES, Delivery, OutgoingMessage
from .models import InboxItem
from .receivers import Audience

log = logging.getLogger(__name__)

# How many deliveries are in each state, and that for each channel.
Counts = dict[str, int]
CountsByChannel = dict[str, Counts]

# Up to so many receivers, a message is no broadcast and does not wait behind one.
FEW_RECEIVERS = 50


@dataclass(frozen=True)
class Outgoing:
    """A message that was stored, and what its deliveries have in common."""

    id: int
    notification_id: int | None
    audience: Audience
    now: datetime

    def store(self, session: AnySession, channel: Channel) -> Counts:
        """A delivery for each receiver, in one statement; says how many are in which state."""
        if (off := channel.off()) is not None:
            # A mail that is switched off is so by intent; an SMS that is not set up is not.
            level = logging.ERROR if channel.name == "sms" else logging.WARNING
            log.log(level, "Nothing is sent on the channel '%s': %s", channel.name, off)
            return self._insert(session, channel.name, literal(SKIPPED), literal(off))
        if channel.needs is None:
            return self._insert(session, channel.name, literal(PENDING), null())
        column = getattr(self.audience.account_model, channel.needs)
        lacks = column.is_(None) | (column == "")
        return self._insert(
            session,
            channel.name,
            case((lacks, SKIPPED), else_=PENDING),
            case((lacks, f"The account has no {channel.needs}"), else_=None),
        )

    def _insert(
        self,
        session: AnySession,
        channel: str,
        state: ColumnElement[Any],
        reason: ColumnElement[Any],
    ) -> Counts:
        values: dict[str, ColumnElement[Any]] = {
            "outgoing_id": literal(self.id),
            "channel": literal(channel),
            "lane": literal(FEW if self._are_few(session) else MANY),
            "state": state,
            "reason": reason,
            "attempts": literal(0),
            "due_at": literal(self.now, Delivery.due_at.type),
        }
        rows = self._receivers().add_columns(*values.values())
        statement = insert(cast(Table, Delivery.__table__))
        session.execute(statement.from_select(["receiver_id", *values], rows).inline())
        counted = session.execute(
            select(Delivery.state, func.count())
            .where(Delivery.outgoing_id == self.id, Delivery.channel == channel)
            .group_by(Delivery.state)
        )
        return dict.fromkeys(STATES, 0) | {state: int(count) for state, count in counted}

    def _receivers(self) -> Select[Any]:
        """With inbox rows, exactly their accounts: others may have come in the meantime."""
        account = self.audience.account_model
        if self.notification_id is None:
            return self.audience.query(account.id)
        return (
            select(InboxItem.receiver_id)
            .join(account, account.id == InboxItem.receiver_id)
            .where(InboxItem.notification_id == self.notification_id)
        )

    def _are_few(self, session: AnySession) -> bool:
        some = self._receivers().limit(FEW_RECEIVERS + 1).subquery()
        return (session.scalar(select(func.count()).select_from(some)) or 0) <= FEW_RECEIVERS


def counts_of(session: AnySession, notification_ids: Iterable[int]) -> dict[int, CountsByChannel]:
    """How the deliveries of each of these notifications stand, in one query."""
    rows: Any = session.execute(
        select(OutgoingMessage.notification_id, Delivery.channel, Delivery.state, func.count())
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(OutgoingMessage.notification_id.in_(list(notification_ids)))
        .group_by(OutgoingMessage.notification_id, Delivery.channel, Delivery.state)
    )
    found: dict[int, CountsByChannel] = {}
    for notification_id, channel, state, count in rows:
        channels = found.setdefault(notification_id, {})
        channels.setdefault(channel, dict.fromkeys(STATES, 0))[state] = count
    return found
