from __future__ import annotations

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ..errors import InvalidCredentials
from ..proofs import account_subject


def hold(accounts: Accounts, account: AccountLike) -> AccountLike:
    """The account until the end of the transaction: nobody else changes its factors meanwhile. What
    has ended the caller's token in this moment ends the caller's wishes too."""
    state = account_subject(account).state
    held: AccountLike | None = accounts.lock(account.id)
    if held is None or account_subject(held).state != state:
        raise InvalidCredentials
    return held
