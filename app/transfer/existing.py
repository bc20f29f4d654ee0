"""The existing rows for a batch of a file, read with a few queries."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from ..accounts.service import Accounts
from ..auth.idp.models import Identity
from ..core.types import AccountKey, JsonObject
from ..workspaces.models import Workspace
from .account import RowError
from .checking import CheckedAccount

# Values of one query; SQLite has a limit of about thirty thousand.
_AT_ONCE = 5_000


@dataclass
class ExistingRows:
    ids: JsonObject
    emails: dict[AccountKey, str]
    # The creation time by slug; None for a workspace that an earlier row creates without a time.
    workspaces: dict[str, datetime | None]
    # The linked account by issuer and subject.
    identities: dict[tuple[str, str], AccountKey]

    def account_of(self, checked: CheckedAccount) -> Any:
        """Return the id of the existing account, or None for a new account."""
        account_id = self.ids.get(checked.email)
        if account_id is None and checked.id not in self.emails:
            return None
        if account_id is None:
            raise RowError("id_taken", "Another account has this id.")
        if checked.id is not None and checked.id != account_id:
            raise RowError("email_taken", f"The account {account_id} has this email.")
        return account_id

    def check(self, checked: CheckedAccount, account_id: AccountKey) -> None:
        for membership in checked.memberships:
            exists = membership.slug in self.workspaces
            if not exists and membership.name is None:
                raise RowError(
                    "unknown_workspace",
                    f"The workspace {membership.slug!r} does not exist and has no name.",
                )
            created_at = self.workspaces.get(membership.slug)
            expected = membership.workspace_created_at
            if created_at is not None and expected is not None and expected != created_at:
                raise RowError("slug_taken", f"Another workspace has the slug {membership.slug!r}.")
        for identity in checked.identities:
            owner = self.identities.get((identity.issuer, identity.subject))
            if owner is not None and owner != account_id:
                raise RowError("identity_taken", "Another account has this identity.")
        for membership in checked.memberships:
            self.workspaces.setdefault(membership.slug, membership.workspace_created_at)


def find_existing(accounts: Accounts, batch: list[CheckedAccount]) -> ExistingRows:
    """Return the rows in the database that belong to a batch."""
    model = accounts.model
    account = select(model.id, model.email)
    workspace = select(Workspace.slug, Workspace.created_at)
    linked = select(Identity.issuer, Identity.subject, Identity.account_id)

    def find(statement: Any, column: Any, values: Collection[object]) -> Iterator[Any]:
        items = list(values)
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            yield from accounts.session.execute(statement.where(column.in_(part)))

    emails = [checked.email for checked in batch]
    ids = [checked.id for checked in batch if checked.id is not None]
    slugs = {membership.slug for checked in batch for membership in checked.memberships}
    subjects = {identity.subject for checked in batch for identity in checked.identities}
    return ExistingRows(
        ids={email: account_id for account_id, email in find(account, model.email, emails)},
        emails=dict(find(account, model.id, ids)),
        workspaces=dict(find(workspace, Workspace.slug, slugs)),
        identities={
            (issuer, subject): owner
            for issuer, subject, owner in find(linked, Identity.subject, subjects)
        },
    )
