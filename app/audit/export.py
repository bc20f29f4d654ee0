"""An account's audit log in its data export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select

from ..core.data_export import DataSubject, Reading
from ..core.records.models import Record


def export_events(subject: DataSubject, reading: Reading) -> Iterator[tuple[str, Any]]:
    if reading.has(Record):
        events = reading.rows(_events(subject.id), "at", "id")
        yield "events.jsonl", (_without_others_address(subject.id, row) for row in events)


def _events(account_id: Any) -> Any:
    return select(
        Record.id,
        Record.type,
        Record.at,
        Record.actor_kind,
        Record.actor_id,
        Record.workspace_id,
        Record.target_kind,
        Record.target_id,
        Record.address,
        Record.user_agent,
        Record.data,
    ).where(Record.account_id == account_id)


def _without_others_address(account_id: Any, event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the event without the IP address and device of another user who acted."""
    if event["actor_id"] in (None, account_id):
        return event
    return {**event, "address": None, "user_agent": None}
