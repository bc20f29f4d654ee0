from __future__ import annotations

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.races import lock_row
from ..errors import InvalidCredentials
from ..proofs import account_subject


def hold(accounts: Accounts, account: AccountLike) -> AccountLike:
    """The account until the end of the transaction: nobody else changes its factors meanwhile. What
    has ended the caller's token in this moment ends the caller's wishes too."""
    model, state = accounts.model, account_subject(account).state
    lock_row(accounts.session, model, model.id == account.id)
    held: AccountLike | None = accounts.session.get(model, account.id, populate_existing=True)
    if held is None or account_subject(held).state != state:
        raise InvalidCredentials
    return held
