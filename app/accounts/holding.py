"""An account that stays as it is while its password is exchanged."""

from __future__ import annotations

from .models import AccountLike
from .service import Accounts


def held_with(
    accounts: Accounts, account_id: object, password_hash: str | None
) -> AccountLike | None:
    """Where this hash still stands: of two that would exchange it at once, the second finds it
    gone."""
    account = accounts.lock(account_id)
    return account if account is not None and account.password_hash == password_hash else None
