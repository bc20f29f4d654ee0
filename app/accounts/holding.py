"""An account that stays as it is while its password is exchanged."""

from __future__ import annotations

from sqlalchemy import and_

from ..core.db.races import lock_row
from .models import AccountLike
from .service import Accounts


def held_with(
    accounts: Accounts, account_id: object, password_hash: str | None
) -> AccountLike | None:
    """Where this hash still stands: of two that would exchange it at once, the second finds it
    gone. The new one is given to the object: what a host calls its columns only that knows."""
    model = accounts.model
    same = model.password_hash.is_not_distinct_from(password_hash)
    held = lock_row(accounts.session, model, and_(model.id == account_id, same))
    return accounts.by_id(account_id) if held else None
