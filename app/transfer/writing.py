"""New accounts, with all that comes along with them, into their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, cast

from sqlalchemy import insert, inspect, select, text

from ..accounts.actions import ACCOUNT_REGISTERED
from ..accounts.models import OPTIONAL
from ..accounts.service import Accounts
from ..auth.idp.identities import DEFAULT
from ..auth.idp.models import Identity
from ..core.context import report_action
from ..core.types import JsonObject
from ..profiles.models import Profile
from ..workspaces.models import Member, Workspace
from .account import ImportedIdentity, ImportedMembership
from .checking import CheckedAccount

_NUMBER_ON = text("""
SELECT setval(numbers, :highest)
FROM (SELECT pg_get_serial_sequence(:accounts, :id)::regclass AS numbers) AS found
WHERE numbers IS NOT NULL AND :highest > coalesce(pg_sequence_last_value(numbers), 0)
""")


@dataclass(eq=False)
class AccountWriter:
    accounts: Accounts
    _: KW_ONLY
    emits: bool

    def write(self, new: list[CheckedAccount]) -> list[Any]:
        """The ids of the new accounts, in their order."""
        session, now = self.accounts.session, self.accounts.clock.now()
        workspaces = self.workspaces(each for checked in new for each in checked.memberships)
        ids = self._insert([self._values(checked, workspaces) for checked in new])
        rows: dict[Any, list[JsonObject]] = {Member: [], Identity: [], Profile: []}
        for checked, account_id in zip(new, ids, strict=True):
            for membership in checked.memberships:
                workspace_id = workspaces[membership.slug]
                rows[Member].append(self.member(membership, workspace_id, account_id))
            for identity in checked.identities:
                rows[Identity].append(self.identity(identity, checked.email, account_id))
            if checked.profile is not None:
                times = {"created_at": now, "updated_at": now}
                rows[Profile].append({**times, **checked.profile, "account_id": account_id})
        for model, values in rows.items():
            # Of one statement all rows have the same columns.
            for alike in _alike(values):
                session.execute(insert(model), alike)
        if self.emits:
            for account_id in ids:
                report_action(session, ACCOUNT_REGISTERED, self.accounts.by_id(account_id))
        return ids

    def workspaces(self, memberships: Iterator[ImportedMembership]) -> dict[str, int]:
        """Return the ids of these workspaces, and create the missing ones."""
        session = self.accounts.session
        named: dict[str, ImportedMembership] = {}
        for each in memberships:
            # Only one of several rows may have the name.
            if each.slug not in named or named[each.slug].name is None:
                named[each.slug] = each
        if not named:
            return {}
        found = select(Workspace.slug, Workspace.id).where(Workspace.slug.in_(named))
        known = dict(session.execute(found).all())
        made = [self._workspace(each) for slug, each in named.items() if slug not in known]
        session.add_all(made)
        session.flush()
        return known | {workspace.slug: workspace.id for workspace in made}

    def member(self, given: ImportedMembership, workspace_id: int, key: object) -> JsonObject:
        return {
            "workspace_id": workspace_id,
            "account_id": key,
            "type": given.type,
            "status": given.status,
            "created_at": given.since or self.accounts.clock.now(),
        }

    def identity(self, given: ImportedIdentity, email: str, key: object) -> JsonObject:
        now = self.accounts.clock.now()
        return {
            "account_id": key,
            "provider": given.provider or DEFAULT,
            "issuer": given.issuer,
            "subject": given.subject,
            "email": given.email or email,
            "linked_at": given.linked_at or now,
            "last_used_at": given.last_used_at or given.linked_at or now,
        }

    def number_on(self, imported: list[CheckedAccount]) -> None:
        """PostgreSQL counts on from the last number that it gave itself, and knows of no other."""
        session = self.accounts.session
        numbers = [each.id for each in imported if isinstance(each.id, int)]
        if not numbers or session.get_bind().dialect.name != "postgresql":
            return
        mapper: Any = inspect(self.accounts.model)
        preparer = session.get_bind().dialect.identifier_preparer
        session.execute(
            _NUMBER_ON,
            {
                "highest": max(numbers),
                "accounts": preparer.format_table(mapper.local_table),
                "id": mapper.primary_key[0].name,
            },
        )

    def _insert(self, rows: list[JsonObject]) -> list[Any]:
        """The ids, in the order of the rows."""
        session, model = self.accounts.session, self.accounts.model
        if not _is_plain(inspect(model), rows[0].keys() | {"id"}):
            accounts = [model(**row) for row in rows]
            session.add_all(accounts)
            session.flush()
            return [account.id for account in accounts]
        # Without RETURNING the driver is given one short statement and streams the rows after it.
        for has_id in (True, False):
            if some := [row for row in rows if ("id" in row) is has_id]:
                session.execute(insert(model), some, execution_options={"render_nulls": True})
        emails = [row["email"] for row in rows if "id" not in row]
        given = select(model.email, model.id).where(model.email.in_(emails))
        ids: JsonObject = dict(session.execute(given).all()) if emails else {}
        return [row["id"] if "id" in row else ids[row["email"]] for row in rows]

    def _values(self, checked: CheckedAccount, workspaces: Mapping[str, int]) -> JsonObject:
        model = self.accounts.model
        values = {**checked.values, "email": checked.email}
        values["created_at"] = values["created_at"] or self.accounts.clock.now()
        if checked.id is not None:
            values["id"] = checked.id
        if checked.current_workspace is not None:
            values["current_workspace_id"] = workspaces[checked.current_workspace]
        # A host may do without these, and has None in their place.
        for name in (*OPTIONAL, "suspended_reason"):
            if getattr(model, name, None) is None:
                del values[name]
        return values

    def _workspace(self, given: ImportedMembership) -> Workspace:
        is_default = given.is_default and (given.is_personal or not self._has_common_default())
        return Workspace(
            slug=given.slug,
            name=cast(str, given.name),
            is_default=is_default,
            is_personal=given.is_personal,
            created_at=given.workspace_created_at or self.accounts.clock.now(),
        )

    def _has_common_default(self) -> bool:
        common = select(Workspace.id).where(Workspace.is_default, Workspace.is_personal.is_(False))
        return self.accounts.session.scalar(common.limit(1)) is not None


def _is_plain(mapper: Any, names: set[str]) -> bool:
    """Whether rows say all there is to say. A host's model may have columns by other names, or do
    something of its own whenever an account is made; then each is made as an object, which takes
    twice as long."""
    does_more = mapper.dispatch.before_insert or mapper.dispatch.after_insert
    # The address is folded already.
    is_watched = mapper.validators.keys() & (names - {"email"})
    return names.issubset(mapper.column_attrs.keys()) and not does_more and not is_watched


def _alike(rows: list[JsonObject]) -> Iterator[list[JsonObject]]:
    by_columns: dict[tuple[str, ...], list[JsonObject]] = {}
    for row in rows:
        by_columns.setdefault(tuple(sorted(row)), []).append(row)
    yield from by_columns.values()
