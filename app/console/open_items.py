"""The numbers in the navigation: unread messages and open invitations, in one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, literal_column, select

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.db.rows import Rows
from ..notifications.inbox import select_unread
from ..workspaces.invitations.lookup import select_open_count

if TYPE_CHECKING:
    from .resources import Features


class OpenItems(NamedTuple):
    unread: int
    invitations: int


class OpenItemCounter:
    def __init__(self, accounts: Accounts, features: Features) -> None:
        self.accounts = accounts
        # What the navigation does not show is not counted.
        zero: Select[Any] = select(literal_column("0"))
        queries = (
            select_unread() if features.has(".dashboard") else zero,
            select_open_count() if features.has(".received_invitations_page") else zero,
        )
        self._rows = Rows(select(*(query.scalar_subquery() for query in queries)))

    def count(self, account: AccountLike) -> OpenItems:
        accounts = self.accounts
        [[unread, invitations]] = self._rows.read(
            accounts.session, receiver_id=account.id, email=account.email, now=accounts.clock.now()
        )
        # An account with an unverified address does not see its invitations.
        is_verified = accounts.is_email_verified(account)
        return OpenItems(unread, invitations if is_verified else 0)
