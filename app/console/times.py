"""Moments as the reader's clock shows them, as far as the server knows that clock."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..auth.caller import known_caller


def iso(value: datetime | str) -> str:
    return _read(value).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(value: datetime | str) -> str:
    """In the zone that the account has named; else in UTC, and it says so. A script puts those into
    the browser's own."""
    known = zone()
    shown = _read(value).astimezone(known or UTC).strftime("%-d %b %Y, %H:%M")
    return shown if known else f"{shown} UTC"


def zone() -> ZoneInfo | None:
    """That of whoever is signed in, where the account names one."""
    caller = known_caller()
    name = getattr(caller.account, "time_zone", None) if caller else None
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _read(value: datetime | str) -> datetime:
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read if read.tzinfo else read.replace(tzinfo=UTC)
