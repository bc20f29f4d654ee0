"""The numbers in the navigation: unread messages and open invitations, in one query."""

from typing import NamedTuple

from sqlalchemy import select

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.db.rows import Rows
from ..notifications.inbox import select_unread
from ..workspaces.invitations.lookup import select_open_count


class OpenItems(NamedTuple):
    unread: int
    invitations: int


class OpenItemCounter:
    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        queries = (select_unread(), select_open_count())
        self._rows = Rows(select(*(query.scalar_subquery() for query in queries)))

    def count(self, account: AccountLike) -> OpenItems:
        accounts = self.accounts
        [[unread, invitations]] = self._rows.read(
            accounts.session, receiver_id=account.id, email=account.email, now=accounts.clock.now()
        )
        # An account with an unverified address does not see its invitations.
        is_verified = accounts.is_email_verified(account)
        return OpenItems(unread, invitations if is_verified else 0)
