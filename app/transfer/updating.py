"""Changes existing accounts for `--update`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import select

from ..accounts.service import Accounts
from ..auth.idp.models import Identity
from ..core.types import AccountKey
from ..profiles.models import Profile
from ..workspaces.models import Member, Workspace
from .account import ImportedMembership
from .checking import CheckedAccount
from .writing import AccountWriter

# Carries out one change.
Change = Callable[[], object]


@dataclass(eq=False)
class Updates:
    """Changes role, status and phone, the profile's properties, and types and statuses of members.

    Adds missing memberships, identities, profiles and passwords. Never
    changes ids, email addresses, times or a password, which the owner may have changed since the
    file was written, and deletes nothing.
    """

    accounts: Accounts
    writer: AccountWriter

    def apply(self, checked: CheckedAccount, account_id: AccountKey, *, dry_run: bool) -> bool:
        """Apply the changes, unless it is a dry run; return whether there are any."""
        changes = [
            *self._account(checked, account_id),
            *self._members(checked, account_id),
            *self._identities(checked, account_id),
            *self._profile(checked, account_id),
        ]
        if not dry_run:
            for change in changes:
                change()
            self.accounts.session.flush()
        return bool(changes)

    def _account(self, checked: CheckedAccount, account_id: AccountKey) -> Iterator[Change]:
        account: Any = self.accounts.by_id(account_id)
        values = {name: checked.values[name] for name in ("role", "status", "phone")}
        new = {n: v for n, v in values.items() if v is not None and getattr(account, n) != v}
        if new:
            yield lambda: self.accounts.change(account, **new)
        if account.password_hash is None and checked.values["password_hash"] is not None:
            yield _set(account, "password_hash", checked.values["password_hash"])

    def _members(self, checked: CheckedAccount, account_id: AccountKey) -> Iterator[Change]:
        session = self.accounts.session
        stored = (
            select(Workspace.slug, Member)
            .join(Member, Member.workspace_id == Workspace.id)
            .where(Member.account_id == account_id)
        )
        existing = dict(session.execute(stored).all()) if checked.memberships else {}
        for membership in checked.memberships:
            member = existing.get(membership.slug)
            if member is None:
                yield partial(self._add_member, membership, account_id)
                continue
            for name in ("type", "status"):
                if getattr(member, name) != getattr(membership, name):
                    yield _set(member, name, getattr(membership, name))

    def _add_member(self, membership: ImportedMembership, account_id: AccountKey) -> None:
        workspace_id = self.writer.workspaces([membership])[membership.slug]
        values = self.writer.member(membership, workspace_id, account_id)
        self.accounts.session.add(Member(**values))

    def _identities(self, checked: CheckedAccount, account_id: AccountKey) -> Iterator[Change]:
        session = self.accounts.session
        stored = select(Identity.issuer, Identity.subject).where(Identity.account_id == account_id)
        existing = {tuple(row) for row in session.execute(stored)} if checked.identities else set()
        for identity in checked.identities:
            if (identity.issuer, identity.subject) not in existing:
                row = self.writer.identity(identity, checked.email, account_id)
                yield partial(session.add, Identity(**row))

    def _profile(self, checked: CheckedAccount, account_id: AccountKey) -> Iterator[Change]:
        session, now = self.accounts.session, self.accounts.clock.now()
        if checked.profile is None:
            return
        profile = session.scalar(select(Profile).where(Profile.account_id == account_id))
        if profile is None:
            times = {"created_at": now, "updated_at": now}
            row = {**times, **checked.profile, "account_id": account_id}
            yield lambda: session.add(Profile(**row))
            return
        values = {n: v for n, v in checked.profile.items() if n not in ("created_at", "updated_at")}
        values["extra"] = {**profile.extra, **values.get("extra", {})}
        # A profile has either a stored picture or the URL of a picture.
        if values.pop("avatar_file", None) or profile.avatar_file:
            values.pop("avatar", None)
        changed = {name: v for name, v in values.items() if getattr(profile, name) != v}
        if changed:
            changed["updated_at"] = now
        for name, value in changed.items():
            yield _set(profile, name, value)


def _set(row: object, name: str, value: object) -> Change:
    return lambda: setattr(row, name, value)
