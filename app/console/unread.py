"""How much of the caller's inbox is unread: asked once for each page that shows it."""

from __future__ import annotations

from flask import request

from ..accounts.models import AccountLike
from ..core.context import service
from ..notifications.inbox import Inbox

_UNREAD = "frontdesk_unread"


def unread(account: AccountLike) -> int:
    found: int | None = getattr(request, _UNREAD, None)
    if found is None:
        found = service(Inbox).unread(account.id)
        setattr(request, _UNREAD, found)
    return found


def count_again() -> None:
    """Something was marked or deleted since."""
    setattr(request, _UNREAD, None)
