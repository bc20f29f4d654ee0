"""Inserts new accounts with their memberships, identities and profiles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, cast

from sqlalchemy import insert, inspect, select, text

from ..accounts.actions import ACCOUNT_REGISTERED
from ..accounts.models import OPTIONAL
from ..accounts.service import Accounts
from ..auth.idp.models import Identity
from ..auth.idp.provider import DEFAULT
from ..core.context import report_action
from ..core.types import AccountKey, JsonObject
from ..profiles.models import Profile
from ..workspaces.models import Member, Workspace
from .account import ImportedIdentity, ImportedMembership
from .checking import CheckedAccount

_ADVANCE_SEQUENCE = text("""
SELECT setval(sequence, :highest)
FROM (SELECT pg_get_serial_sequence(:accounts, :id)::regclass AS sequence) AS found
WHERE sequence IS NOT NULL AND :highest > coalesce(pg_sequence_last_value(sequence), 0)
""")


@dataclass(eq=False)
class AccountWriter:
    accounts: Accounts
    _: KW_ONLY
    emits: bool

    def write(self, new: list[CheckedAccount]) -> list[AccountKey]:
        """Insert the accounts and return their ids, in the same order."""
        session, now = self.accounts.session, self.accounts.clock.now()
        workspaces = self.workspaces([item for checked in new for item in checked.memberships])
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
            # All rows of one statement have the same columns.
            for group in _group_by_columns(values):
                session.execute(insert(model), group)
        if self.emits:
            for account_id in ids:
                report_action(session, ACCOUNT_REGISTERED, self.accounts.by_id(account_id))
        return ids

    def workspaces(self, memberships: Sequence[ImportedMembership]) -> dict[str, int]:
        """Return the ids of these workspaces, and create the missing ones."""
        session = self.accounts.session
        named: dict[str, ImportedMembership] = {}
        for membership in memberships:
            # Only one of several rows may have the name.
            if membership.slug not in named or named[membership.slug].name is None:
                named[membership.slug] = membership
        if not named:
            return {}
        stored = select(Workspace.slug, Workspace.id).where(Workspace.slug.in_(named))
        ids = dict(session.execute(stored).all())
        missing = [self._workspace(item) for slug, item in named.items() if slug not in ids]
        session.add_all(missing)
        session.flush()
        return ids | {workspace.slug: workspace.id for workspace in missing}

    def member(
        self, membership: ImportedMembership, workspace_id: int, account_id: object
    ) -> JsonObject:
        return {
            "workspace_id": workspace_id,
            "account_id": account_id,
            "type": membership.type,
            "status": membership.status,
            "created_at": membership.since or self.accounts.clock.now(),
        }

    def identity(self, identity: ImportedIdentity, email: str, account_id: object) -> JsonObject:
        now = self.accounts.clock.now()
        return {
            "account_id": account_id,
            "provider": identity.provider or DEFAULT,
            "issuer": identity.issuer,
            "subject": identity.subject,
            "email": identity.email or email,
            "linked_at": identity.linked_at or now,
            "last_used_at": identity.last_used_at or identity.linked_at or now,
        }

    def _advance_sequence(self, imported: list[JsonObject]) -> None:
        """Advance PostgreSQL's sequence of ids beyond the imported ids."""
        session = self.accounts.session
        ids = [row["id"] for row in imported if isinstance(row["id"], int)]
        if not ids or session.get_bind().dialect.name != "postgresql":
            return
        mapper: Any = inspect(self.accounts.model)
        preparer = session.get_bind().dialect.identifier_preparer
        session.execute(
            _ADVANCE_SEQUENCE,
            {
                "highest": max(ids),
                "accounts": preparer.format_table(mapper.local_table),
                "id": mapper.primary_key[0].name,
            },
        )

    def _insert(self, rows: list[JsonObject]) -> list[AccountKey]:
        """Insert rows of accounts and return their ids, in the same order."""
        session, model = self.accounts.session, self.accounts.model
        is_plain = _has_plain_columns(inspect(model), {"id"}.union(*rows))
        with_id = [row for row in rows if "id" in row]
        # The database must not give an id of the file to a row without one.
        for part in (with_id, [row for row in rows if "id" not in row]):
            if not is_plain:
                session.add_all(model(**row) for row in part)
                session.flush()
            for group in _group_by_columns(part) if is_plain else ():
                # Without RETURNING, the driver streams the rows of one short statement.
                session.execute(insert(model), group, execution_options={"render_nulls": True})
            if part is with_id:
                self._advance_sequence(part)
        emails = [row["email"] for row in rows if "id" not in row]
        stored = select(model.email, model.id).where(model.email.in_(emails))
        ids: JsonObject = dict(session.execute(stored).all()) if emails else {}
        return [row["id"] if "id" in row else ids[row["email"]] for row in rows]

    def _values(self, checked: CheckedAccount, workspaces: Mapping[str, int]) -> JsonObject:
        model = self.accounts.model
        values = {**checked.values, "email": checked.email}
        values["created_at"] = values["created_at"] or self.accounts.clock.now()
        if checked.id is not None:
            values["id"] = checked.id
        if checked.current_workspace is not None:
            values["current_workspace_id"] = workspaces[checked.current_workspace]
        # Columns that an application's model may lack.
        for name in (*OPTIONAL, "suspended_reason"):
            if getattr(model, name, None) is None:
                del values[name]
        return values

    def _workspace(self, membership: ImportedMembership) -> Workspace:
        is_default = membership.is_default and (
            membership.is_personal or not self._has_common_default()
        )
        return Workspace(
            slug=membership.slug,
            name=cast(str, membership.name),
            is_default=is_default,
            is_personal=membership.is_personal,
            created_at=membership.workspace_created_at or self.accounts.clock.now(),
        )

    def _has_common_default(self) -> bool:
        common = select(Workspace.id).where(Workspace.is_default, Workspace.is_personal.is_(False))
        return self.accounts.session.scalar(common.limit(1)) is not None


def _has_plain_columns(mapper: Any, names: set[str]) -> bool:
    """Whether accounts can be inserted as plain rows, which is twice as fast as objects.

    An application's model may rename columns, validate values or listen to the insert.
    """
    has_listeners = mapper.dispatch.before_insert or mapper.dispatch.after_insert
    # The email is normalized already.
    is_validated = mapper.validators.keys() & (names - {"email"})
    return names.issubset(mapper.column_attrs.keys()) and not has_listeners and not is_validated


def _group_by_columns(rows: list[JsonObject]) -> Iterable[list[JsonObject]]:
    groups: dict[tuple[str, ...], list[JsonObject]] = {}
    for row in rows:
        groups.setdefault(tuple(sorted(row)), []).append(row)
    return groups.values()
