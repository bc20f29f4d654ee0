"""What a batch of a file meets in the database, asked once for the whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from ..accounts.service import Accounts
from ..auth.idp.models import Identity
from ..core.types import AccountKey, JsonObject
from ..workspaces.models import Workspace
from .account import RowFault
from .checking import CheckedAccount

# Of one question: SQLite takes some thirty thousand values.
_AT_ONCE = 5_000


@dataclass
class ExistingRows:
    ids: JsonObject
    emails: dict[Any, str]
    # Those that a row before is about to make have no moment yet, unless it is told.
    workspaces: dict[str, datetime | None]
    # The accounts that persons at a provider are linked to.
    identities: dict[tuple[str, str], Any]

    def account_of(self, checked: CheckedAccount) -> Any:
        """The id of the account that it is already, or nothing where it is new."""
        known = self.ids.get(checked.email)
        if known is None and checked.id not in self.emails:
            return None
        if known is None:
            raise RowFault("id_taken", "Another account has this id.")
        if checked.id is not None and checked.id != known:
            raise RowFault("email_taken", f"The account {known} has this email.")
        return known

    def check(self, checked: CheckedAccount, account_id: AccountKey) -> None:
        for membership in checked.memberships:
            is_there = membership.slug in self.workspaces
            if not is_there and membership.name is None:
                raise RowFault(
                    "unknown_workspace", f"There is no workspace {membership.slug!r}, nor its name."
                )
            created_at = self.workspaces.get(membership.slug)
            said = membership.workspace_created_at
            if created_at is not None and said is not None and said != created_at:
                raise RowFault("slug_taken", f"Another workspace is called {membership.slug!r}.")
        for identity in checked.identities:
            owner = self.identities.get((identity.issuer, identity.subject))
            if owner is not None and owner != account_id:
                raise RowFault("identity_taken", "Another account has this identity.")
        for membership in checked.memberships:
            self.workspaces.setdefault(membership.slug, membership.workspace_created_at)


@dataclass(eq=False)
class ExistingAccounts:
    accounts: Accounts

    def among(self, batch: list[CheckedAccount]) -> ExistingRows:
        model = self.accounts.model
        account = select(model.id, model.email)
        by_email = self._all(account, model.email, (each.email for each in batch))
        keys = (each.id for each in batch if each.id is not None)
        by_id = self._all(account, model.id, keys)
        slugs = {each.slug for checked in batch for each in checked.memberships}
        subjects = {each.subject for checked in batch for each in checked.identities}
        workspace = select(Workspace.slug, Workspace.created_at)
        whose = select(Identity.issuer, Identity.subject, Identity.account_id)
        return ExistingRows(
            ids={email: key for key, email in by_email},
            emails=dict(by_id),
            workspaces=dict(self._all(workspace, Workspace.slug, slugs)),
            identities={
                (issuer, subject): owner
                for issuer, subject, owner in self._all(whose, Identity.subject, subjects)
            },
        )

    def _all(self, statement: Any, column: Any, values: Iterable[Any]) -> Iterator[Any]:
        wanted = list(values)
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            yield from self.accounts.session.execute(statement.where(column.in_(some)))
