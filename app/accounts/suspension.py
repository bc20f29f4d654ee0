"""Suspension until a date. Nothing is written when it is over: from that moment on the account
counts as active, and its next sign-in writes that down."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, false

from ..core.db.base import timestamp_literal
from ..core.types import AccountModel
from .models import SUSPENDED, AccountLike


class Suspension(NamedTuple):
    """A suspension; without a date it lasts until an admin lifts it."""

    until: datetime | None = None
    reason: str | None = None


def keeps_dates(model: AccountModel | None) -> bool:
    """Whether accounts of a host's own model have a column for the date."""
    return getattr(model, "suspended_until", None) is not None


def is_over(account: AccountLike, now: datetime) -> bool:
    if account.status != SUSPENDED:
        return False
    until: datetime | None = getattr(account, "suspended_until", None)
    if until is None:
        return False
    # A host may keep a moment without an offset.
    return (until if until.tzinfo else until.replace(tzinfo=UTC)) <= now


def is_over_row(model: AccountModel, now: datetime) -> ColumnElement[bool]:
    """As `is_over`, for a statement."""
    if not keeps_dates(model):
        return false()
    until = model.suspended_until
    return and_(model.status == SUSPENDED, until <= timestamp_literal(until, now))


def note(account: AccountLike, suspension: Suspension) -> None:
    """Store the suspension, or clear it: the date of an earlier one must not end a later one."""
    for name, value in (
        ("suspended_until", suspension.until),
        ("suspended_reason", suspension.reason),
    ):
        if getattr(type(account), name, None) is not None:
            setattr(account, name, value)
