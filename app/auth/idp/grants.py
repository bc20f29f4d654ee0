"""Roles and memberships that users have because of their groups at an identity provider.

A grant is a row for one identity, and for the role or one membership of its account. All grants of
the same role or membership store what the account had before the first of them. A change that
another person has made since is what the account has without the grants.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select

from ...accounts.models import ROOT, USER, AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService, report_action
from ...core.data_export import DataSubject, ExportReader
from ...core.db.pruning import delete_rows
from ...core.request import acting_provider
from ...core.types import AccountKey, Values
from ..actions import GRANT_KEPT
from ..features import NO_MEMBERSHIP, MembershipFeature
from .models import Identity
from .provider import MEMBER_TYPES, MICROSOFT, Provider
from .provider_models import ProviderGrant
from .providers import Providers

log = logging.getLogger(__name__)

MAX_GROUPS = 1_000
# Microsoft leaves out this claim for a user without app roles, and never shortens it.
_APP_ROLES = "roles"

# Roles or types by the id of the identity.
Granted = Mapping[int, str]


class GrantOrigin(NamedTuple):
    """The provider that has given an account its role, or a membership."""

    # None: the role.
    workspace_id: int | None
    granted: str
    # The title of the provider, or its name if the settings have it no more.
    provider: str


def decide(
    order: Sequence[str],
    current: str,
    former: str,
    granted: Granted,
    changes: Granted,
    replaces: bool,
) -> tuple[str, str, dict[int, str]]:
    """Return the role or type of an account after its grants have changed, its value without the
    grants, and the grants.

    `order` begins with the highest value. A value that is not in it is higher: an earlier version
    of the settings had it, and it is not lowered.
    """

    def rank(value: str) -> int:
        return order.index(value) if value in order else -1

    if min([former, *granted.values()], key=rank) != current:
        former = current
    if replaces and any(rank(former) < rank(each) for each in changes.values()):
        # Not restored: the owner could unlink the identity to get it back.
        former = order[-1]
    after = changes if replaces else {**granted, **changes}
    higher = {each: value for each, value in after.items() if rank(former) > rank(value) >= 0}
    return min([former, *higher.values()], key=rank), former, higher


def read_groups(provider: Provider, claims: Values) -> Sequence[str] | None:
    """Return the groups of a user; None, with a warning, if they are unknown."""
    name = provider.groups_claim
    value = claims.get(name)
    groups = [value] if isinstance(value, str) else value
    if groups is None and provider.kind == MICROSOFT and name == _APP_ROLES:
        return ()
    # Microsoft sends these claims for groups that are too many for a token.
    elsewhere = claims.get("_claim_names")
    if (isinstance(elsewhere, Mapping) and name in elsewhere) or (
        groups is None and "hasgroups" in claims
    ):
        problem = "is too large for the token"
    elif groups is None:
        problem = "is missing"
    elif not isinstance(groups, list) or not all(isinstance(each, str) for each in groups):
        problem = "is no list of texts"
    elif len(groups) > MAX_GROUPS:
        problem = f"has more than {MAX_GROUPS} groups"
    else:
        return groups
    log.warning(
        "The groups of a user are unknown, so roles and memberships do not change: the claim %.100r"
        f" of the identity provider %s {problem}",
        name,
        provider.name,
    )
    return None


@dataclass(eq=False)
class ProviderGrants(BasicService):
    """Called within a transaction. The account is locked, so that its grants do not change."""

    accounts: Accounts
    providers: Providers
    memberships: Callable[[], MembershipFeature]

    def apply(
        self, provider: Provider, account: AccountLike, identity_id: int, claims: Values
    ) -> None:
        """Change the role and the memberships of an account after a sign-in through a provider."""
        groups = read_groups(provider, claims)
        if groups is None:
            return
        wanted = self._wanted_types(provider, groups)
        if provider.roles:
            found = {provider.roles.get(each) for each in groups}
            wanted[None] = next((each for each in self._roles() if each in found), USER)
        with acting_provider(provider.name):
            self._change(account, [identity_id], wanted, replaces=provider.replaces_roles)

    def release(self, account_id: AccountKey, identity_ids: Collection[int]) -> None:
        """Take away what identities have given, before they are deleted."""
        account = self.accounts.lock(account_id)
        if account is not None:
            self._change(account, identity_ids, {})

    def origins(self, account_id: AccountKey) -> list[GrantOrigin]:
        """Return which providers have given an account its role and memberships."""
        columns = ProviderGrant.workspace_id, ProviderGrant.granted, Identity.provider
        grants = select(*columns).join(Identity, Identity.id == ProviderGrant.identity_id)
        of_account = grants.where(Identity.account_id == account_id).order_by(ProviderGrant.id)
        titles = {name: each.title for name, each in self.providers.items()}
        return [
            GrantOrigin(workspace_id, granted, titles.get(name, name))
            for workspace_id, granted, name in self.session.execute(of_account)
        ]

    def _roles(self) -> list[str]:
        """Return the roles from the highest, with the role of an account without another last."""
        return [*(each for each in self.accounts.roles if each != USER), USER]

    def _wanted_types(self, provider: Provider, groups: Sequence[str]) -> dict[int | None, str]:
        """Return the types of members by the ids of their workspaces."""
        given = {provider.workspaces[each] for each in groups if each in provider.workspaces}
        slugs = {each.slug for each in given}
        ids = self.memberships().find_workspaces(slugs) if slugs else {}
        for slug in sorted(slugs - ids.keys()):
            log.warning(
                "A group of the identity provider %s gives a membership of the workspace %s, which"
                " does not exist",
                provider.name,
                slug,
            )
        # The highest type of a workspace is the last.
        in_order = sorted(given, key=lambda each: -MEMBER_TYPES.index(each.type))
        return {ids[each.slug]: each.type for each in in_order if each.slug in ids}

    def _change(
        self,
        account: AccountLike,
        identity_ids: Collection[int],
        wanted: Mapping[int | None, str],
        *,
        replaces: bool = False,
    ) -> None:
        grants = select(ProviderGrant).join(Identity, Identity.id == ProviderGrant.identity_id)
        of_account = grants.where(Identity.account_id == account.id).order_by(ProviderGrant.id)
        rows = self.session.scalars(of_account.execution_options(populate_existing=True)).all()
        given = {each.workspace_id for each in rows if each.identity_id in identity_ids}
        # The same order in every transaction: workspaces stay locked.
        for workspace_id in sorted({*given, *wanted}, key=lambda each: each or 0):
            former = [each for each in rows if each.workspace_id == workspace_id]
            order, current = self._roles(), account.role
            if workspace_id is not None:
                order = [*MEMBER_TYPES, NO_MEMBERSHIP]
                member = self.memberships().lock_member(workspace_id, account.id)
                if member is None:
                    # A deactivated membership does not change.
                    self._store(workspace_id, former, "", {})
                    continue
                current = member
            value, base, granted = decide(
                order,
                current,
                (former[0].former or NO_MEMBERSHIP) if former else current,
                {each.identity_id: each.granted for each in former},
                dict.fromkeys(identity_ids, wanted.get(workspace_id, order[-1])),
                replaces and workspace_id is None,
            )
            if value == current or self._set(account, workspace_id, value):
                self._store(workspace_id, former, base, granted)
                continue
            report_action(
                self.session,
                GRANT_KEPT,
                account_id=account.id,
                workspace_id=workspace_id,
                kept=current,
            )

    def _set(self, account: AccountLike, workspace_id: int | None, value: str) -> bool:
        """Set a role or a membership. Return False for the last root and the last owner."""
        if workspace_id is not None:
            return self.memberships().set_type(workspace_id, account, value)
        if ROOT in (account.role, value):
            self.accounts.lock_roots()
            if self.accounts.is_last_root(account):
                return False
        self.accounts.change(account, role=value)
        return True

    def _store(
        self, workspace_id: int | None, rows: Sequence[ProviderGrant], former: str, granted: Granted
    ) -> None:
        """Replace the grants of a role or a membership."""
        stored = {each.identity_id: (each.granted, each.former) for each in rows}
        if stored == {each: (value, former or None) for each, value in granted.items()}:
            return
        since = {each.identity_id: each.granted_at for each in rows}
        if rows:
            ids = [each.id for each in rows]
            delete_rows(self.session, ProviderGrant, ProviderGrant.id.in_(ids))
        self.session.add_all(
            ProviderGrant(
                identity_id=each,
                workspace_id=workspace_id,
                granted=value,
                former=former or None,
                granted_at=since.get(each) or self.clock.now(),
            )
            for each, value in granted.items()
        )


def export_grants(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(ProviderGrant):
        names = ("id", "identity_id", "workspace_id", "granted", "granted_at")
        chosen = select(*(getattr(ProviderGrant, each) for each in names))
        of_account = chosen.join(Identity, Identity.id == ProviderGrant.identity_id)
        rows = reader.rows(of_account.where(Identity.account_id == subject.id))
        yield "provider_grants.jsonl", rows
