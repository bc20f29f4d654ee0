"""Whom a notification would reach on each channel, and why not the others: asked before it is
sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from ..core.db.transaction import extended_timeout, transaction
from ..core.errors import Invalid
from ..core.types import JsonObject
from .receivers import Receivers
from .schemas import INAPP
from .service import Notifications

# Ready to be answered as JSON.
ReachOfAll = dict[str, Any]


@dataclass(eq=False)
class Reach:
    notifications: Notifications

    def of(self, channels: Sequence[str], receiver_ids: Iterable[Any] | None) -> ReachOfAll:
        """One count for each channel, over the very query by which it would be sent."""
        sending = self.notifications
        if unknown := sending.unknown(channels):
            raise Invalid.about("channels", f"Not a channel: {', '.join(unknown)}")
        session = sending.session
        with transaction(session), extended_timeout(session):
            found = Receivers.of(session, sending.account_model, receiver_ids)
            if sending.hooks.registered("receivers"):
                found = found.rewritten(sending.hooks.receivers)
            targets = found.targets(None)
            receivers = session.scalar(select(func.count()).select_from(targets.subquery())) or 0
            on = {name: self._on(name, targets, receivers) for name in dict.fromkeys(channels)}
        return {"receivers": receivers, "channels": on}

    def _on(self, name: str, targets: Any, receivers: int) -> JsonObject:
        if name == INAPP:
            return _reached(receivers, {})
        channel = self.notifications.outbox.channels.get(name)
        if channel is None:
            return _reached(0, {"Nothing here sends on this channel": receivers})
        if (off := channel.off()) is not None:
            return _reached(0, {off: receivers})
        entries, why_not = channel.address_book.entries(targets)
        rows = self.notifications.session.execute(
            entries.with_only_columns(why_not.label("why"), func.count()).group_by("why")
        )
        counts = {why: int(count) for why, count in rows}
        return _reached(counts.pop(None, 0), counts)


def _reached(count: int, left_out: dict[Any, int]) -> JsonObject:
    reasons = [{"reason": why, "receivers": n} for why, n in sorted(left_out.items()) if n]
    return {"reached": count, "left_out": reasons}
