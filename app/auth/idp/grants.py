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
from ..features import MembershipFeature
from .models import Identity
from .provider import MEMBER_TYPES, MICROSOFT, Provider
from .provider_models import ProviderGrant
from .providers import Providers

log = logging.getLogger(__name__)

MAX_GROUPS = 1_000
# Microsoft's claims for groups that are too many for a token.
_CLAIM_NAMES, _HAS_GROUPS = "_claim_names", "hasgroups"
# Microsoft leaves out this claim for a user without app roles, and never shortens it.
_APP_ROLES = "roles"

# Grants by the id of the identity.
Granted = Mapping[int, str | None]


class GrantOrigin(NamedTuple):
    """The provider that has given an account its role, or a membership."""

    # None: the role.
    workspace_id: int | None
    granted: str
    # The title of the provider, or its name if the settings have it no more.
    provider: str


class Outcome(NamedTuple):
    value: str | None
    # The value without the grants.
    former: str | None
    granted: dict[int, str]


def decide(
    order: Sequence[str | None],
    current: str | None,
    former: str | None,
    granted: Granted,
    changes: Granted,
    *,
    replaces: bool = False,
) -> Outcome:
    """Return the role or type of an account after its grants have changed.

    `order` begins with the highest value. A value that is not in it is higher: an earlier version
    of the settings had it, and it is not lowered.
    """

    def rank(value: str | None) -> int:
        return order.index(value) if value in order else -1

    if min([former, *granted.values()], key=rank) != current:
        former = current
    after = {**granted, **changes}
    if replaces:
        after = {identity_id: value or order[-1] for identity_id, value in changes.items()}
        if any(rank(former) < rank(value) for value in after.values()):
            # Not restored: the owner could unlink the identity to get it back.
            former = order[-1]
    kept = {
        identity_id: value
        for identity_id, value in after.items()
        if value is not None and value in order and rank(value) < rank(former)
    }
    return Outcome(min([former, *kept.values()], key=rank), former, kept)


def read_groups(provider: Provider, claims: Values) -> Sequence[str] | None:
    """Return the groups of a user; None, with a warning, if they are unknown."""
    name = provider.groups_claim
    value = claims.get(name)
    groups = [value] if isinstance(value, str) else value
    if _is_shortened(name, claims):
        problem = "is too large for the token"
    elif groups is None:
        if provider.kind == MICROSOFT and name == _APP_ROLES:
            return ()
        problem = "is missing"
    elif not isinstance(groups, list):
        problem = "is no list"
    elif len(groups) > MAX_GROUPS:
        problem = f"has more than {MAX_GROUPS} groups"
    elif not all(isinstance(each, str) for each in groups):
        problem = "has groups that are not texts"
    else:
        return groups
    log.warning(
        "The groups of a user are unknown, so roles and memberships do not change: the claim %.100r"
        " of the identity provider %s %s",
        name,
        provider.name,
        problem,
    )
    return None


def _is_shortened(name: str, claims: Values) -> bool:
    elsewhere = claims.get(_CLAIM_NAMES)
    is_elsewhere = isinstance(elsewhere, Mapping) and name in elsewhere
    return is_elsewhere or (name == "groups" and name not in claims and _HAS_GROUPS in claims)


@dataclass(eq=False)
class ProviderGrants(BasicService):
    """Called within a transaction. The account is locked, so that its grants do not change."""

    accounts: Accounts
    providers: Providers
    # Returns None if the application has no workspaces.
    memberships: Callable[[], MembershipFeature | None]

    def apply(
        self, provider: Provider, account: AccountLike, identity_id: int, claims: Values
    ) -> None:
        """Change the role and the memberships of an account after a sign-in through a provider."""
        groups = read_groups(provider, claims)
        if groups is None:
            return
        wanted: dict[int | None, str | None] = dict(self._wanted_memberships(provider, groups))
        if provider.roles:
            roles = {provider.roles[each] for each in groups if each in provider.roles}
            wanted[None] = next((each for each in self._roles() if each in roles), None)
        with acting_provider(provider.name):
            self._change(account, [identity_id], wanted, replaces=provider.replaces_roles)

    def release(self, account_id: AccountKey, identity_ids: Collection[int]) -> None:
        """Take away what identities have given, before they are deleted."""
        account = self.accounts.lock(account_id)
        if account is not None:
            self._change(account, identity_ids, {})

    def origins(self, account_id: AccountKey) -> list[GrantOrigin]:
        """Return which providers have given an account its role and memberships."""
        grants = (
            select(ProviderGrant.workspace_id, ProviderGrant.granted, Identity.provider)
            .join(Identity, Identity.id == ProviderGrant.identity_id)
            .where(Identity.account_id == account_id)
            .order_by(ProviderGrant.id)
        )
        return [
            GrantOrigin(
                workspace_id,
                granted,
                self.providers[name].title if name in self.providers else name,
            )
            for workspace_id, granted, name in self.session.execute(grants)
        ]

    def _roles(self) -> list[str]:
        """Return the roles from the highest, with the role of an account without another last."""
        return [*(each for each in self.accounts.roles if each != USER), USER]

    def _wanted_memberships(
        self, provider: Provider, groups: Sequence[str]
    ) -> Iterator[tuple[int, str]]:
        """Yield workspaces and types, the highest type of a workspace last."""
        feature = self.memberships()
        given = [provider.workspaces[each] for each in groups if each in provider.workspaces]
        if feature is None or not given:
            return
        ids = feature.find_workspaces({each.slug for each in given})
        for slug in sorted({each.slug for each in given} - ids.keys()):
            log.warning(
                "A group of the identity provider %s gives a membership of the workspace %s, which"
                " does not exist",
                provider.name,
                slug,
            )
        for each in sorted(given, key=lambda each: -MEMBER_TYPES.index(each.type)):
            if each.slug in ids:
                yield ids[each.slug], each.type

    def _change(
        self,
        account: AccountLike,
        identity_ids: Collection[int],
        wanted: Mapping[int | None, str | None],
        *,
        replaces: bool = False,
    ) -> None:
        rows = self.session.scalars(
            select(ProviderGrant)
            .join(Identity, Identity.id == ProviderGrant.identity_id)
            .where(Identity.account_id == account.id)
            .order_by(ProviderGrant.id)
            .execution_options(populate_existing=True)
        ).all()
        given = {each.workspace_id for each in rows if each.identity_id in identity_ids}
        # The same order in every transaction: workspaces stay locked.
        for workspace_id in sorted({*given, *wanted}, key=lambda each: each or 0):
            self._change_one(
                account,
                workspace_id,
                [each for each in rows if each.workspace_id == workspace_id],
                dict.fromkeys(identity_ids, wanted.get(workspace_id)),
                replaces and workspace_id is None,
            )

    def _change_one(
        self,
        account: AccountLike,
        workspace_id: int | None,
        rows: Sequence[ProviderGrant],
        changes: Granted,
        replaces: bool,
    ) -> None:
        order: Sequence[str | None] = self._roles()
        current: str | None = account.role
        if workspace_id is not None:
            feature = self.memberships()
            member = feature.lock_member(workspace_id, account.id) if feature else None
            if member is None:
                # A deactivated membership stays as it is.
                self._delete(rows)
                return
            order, current = [*MEMBER_TYPES, None], member.type
        former = rows[0].former if rows else current
        granted = {each.identity_id: each.granted for each in rows}
        outcome = decide(order, current, former, granted, changes, replaces=replaces)
        if outcome.value != current and not self._set(account, workspace_id, outcome.value):
            report_action(
                self.session,
                GRANT_KEPT,
                account_id=account.id,
                workspace_id=workspace_id,
                kept=current,
            )
            return
        self._store(workspace_id, rows, outcome)

    def _set(self, account: AccountLike, workspace_id: int | None, value: str | None) -> bool:
        """Set a role or a membership. Return False for the last root and the last owner."""
        if workspace_id is not None:
            feature = self.memberships()
            return feature is not None and feature.set_type(workspace_id, account, value)
        if ROOT in (account.role, value):
            self.accounts.lock_roots()
            if self.accounts.is_last_root(account):
                return False
        self.accounts.change(account, role=value)
        return True

    def _store(
        self, workspace_id: int | None, rows: Sequence[ProviderGrant], outcome: Outcome
    ) -> None:
        granted = dict(outcome.granted)
        self._delete([each for each in rows if each.identity_id not in granted])
        for each in rows:
            if each.identity_id in granted:
                each.granted, each.former = granted.pop(each.identity_id), outcome.former
        self.session.add_all(
            ProviderGrant(
                identity_id=identity_id,
                workspace_id=workspace_id,
                granted=value,
                former=outcome.former,
                granted_at=self.clock.now(),
            )
            for identity_id, value in granted.items()
        )

    def _delete(self, rows: Sequence[ProviderGrant]) -> None:
        if rows:
            ids = [each.id for each in rows]
            delete_rows(self.session, ProviderGrant, ProviderGrant.id.in_(ids))


def export_grants(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    grant = ProviderGrant
    if reader.has(grant):
        columns = grant.id, grant.identity_id, grant.workspace_id, grant.granted, grant.granted_at
        of_account = select(*columns).join(Identity, Identity.id == grant.identity_id)
        yield (
            "provider_grants.jsonl",
            reader.rows(of_account.where(Identity.account_id == subject.id)),
        )
