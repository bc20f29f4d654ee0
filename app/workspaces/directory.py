"""Lists all workspaces for admins, with their owners and numbers of members.

A page is one range of an index; the indexes for the search are those of migration 0029.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    collate,
    func,
    literal_column,
    or_,
    select,
    union,
)
from sqlalchemy.orm import aliased

from ..accounts.search import MAX_CHECKED, AccountFinder
from ..accounts.service import Accounts
from ..core.audit_log.models import AuditEntry
from ..core.db.account_ids import MAX_ID
from ..core.db.transaction import unprepared
from ..core.types import AccountKey
from ..core.web.paging import Slice, slice_of
from .lookup import is_entry_of
from .models import OWNER, Member, Workspace

# Members are counted up to this number.
MAX_MEMBERS = 10_000
# Found workspaces are counted up to this number.
MAX_FOUND = 10_000
# Names, and slugs, that a search while the user types reads.
MAX_NAMED = 1_000
# Owners are found by texts of this length. Shorter ones would find too many.
MIN_OWNER = 3
# Owners of a workspace that a list shows.
MAX_OWNERS = 3
# With a literal, as in the condition of the index.
IS_OWNER = Member.type == literal_column(f"'{OWNER}'")
# The end of a range of texts with the same start: none has the last Unicode character.
_END = "\U0010ffff"


class WorkspaceOwner(NamedTuple):
    account_id: AccountKey
    email: str


class ListedWorkspace(NamedTuple):
    workspace: Workspace
    members: int
    owners: Sequence[WorkspaceOwner]
    last_event: datetime | None


@dataclass(eq=False)
class WorkspaceDirectory:
    accounts: Accounts
    finder: AccountFinder

    def page(
        self, search: str, limit: int, *, before: int | None = None, after: int | None = None
    ) -> Slice:
        """Return workspaces, the newest first: a page before the one with this id, or the page
        that ends `after` it. The total is that of a search, counted up to MAX_FOUND + 1; None if
        only the owners of the newest workspaces are searched."""
        session, is_backward = self.accounts.session, after is not None
        order = Workspace.id.asc() if is_backward else Workspace.id.desc()
        start, end = after or 0, MAX_ID if before is None else before
        in_range = (Workspace.id > start, Workspace.id < end)
        rows = select(Workspace).where(*in_range).order_by(order).limit(limit + 1)
        total = None
        with unprepared(session) if search else nullcontext():
            if search:
                matches, is_complete = self._matches(search)
                ids = session.scalars(self._ids(matches)).all()
                total = len(ids) if is_complete else None
                # Among many results, a page is found soon in the order of the ids.
                near = sorted((each for each in ids if start < each < end), reverse=not is_backward)
                on_page = Workspace.id.in_(near[: limit + 1])
                rows = rows.where(or_(*matches) if len(ids) > MAX_FOUND else on_page)
            found = self._listed(rows)
        return slice_of(
            found[::-1] if is_backward else found,
            limit,
            lambda row: str(row.workspace.id),
            is_first=before is None,
            is_backward=is_backward,
            read_first=lambda: self.page(search, limit),
            total=total,
        )

    def named(self, search: str, limit: int) -> Sequence[Workspace]:
        """Return the newest workspaces; with a text, of the first MAX_NAMED names and slugs that
        start with it."""
        session = self.accounts.session
        with unprepared(session):
            rows = select(Workspace).order_by(Workspace.id.desc()).limit(limit)
            if search:
                found = sorted(session.scalars(self._ids(self._by_name(search), MAX_NAMED)))
                rows = rows.where(Workspace.id.in_(found[-limit:]))
            return session.scalars(rows).all()

    def get(self, workspace_id: int) -> ListedWorkspace | None:
        found = self._listed(select(Workspace).where(Workspace.id == workspace_id))
        return found[0] if found else None

    def _ids(
        self, matches: Sequence[ColumnElement[bool]], most: int = MAX_FOUND + 1
    ) -> Select[int]:
        """Select the ids by each index by itself: with OR, the database would read all rows."""
        parts = [
            select(select(Workspace.id).where(each).limit(most).subquery().c.id) for each in matches
        ]
        return select(union(*parts).subquery().c.id).limit(most)

    def _matches(self, search: str) -> tuple[Sequence[ColumnElement[bool]], bool]:
        """Return the conditions for a name or slug with this beginning, and for an owner whom the
        search of accounts finds; and whether all owners are searched. A text that many accounts
        have is searched among the owners of the newest MAX_CHECKED workspaces. One or two
        characters would find too many owners."""
        found = self._by_name(search)
        if len(search) < MIN_OWNER:
            return found, True
        model, first = self.accounts.model, None
        matches = self.finder.find(search)
        owners = select(Member.workspace_id).join(model, model.id == Member.account_id)
        owners = owners.where(IS_OWNER, matches.is_match)
        if matches.ids is None:
            newest = select(Workspace.id).order_by(Workspace.id.desc())
            first = self.accounts.session.scalar(newest.offset(MAX_CHECKED).limit(1))
        if first is not None:
            owners = owners.where(Member.workspace_id > first)
        return [*found, Workspace.id.in_(owners)], first is None

    def _by_name(self, search: str) -> Sequence[ColumnElement[bool]]:
        # An index finds a name in one case only: the usual ones are searched.
        names = {search, search.lower(), search.upper(), search.capitalize(), search.title()}
        slug = self._begins(Workspace.slug, search.lower())
        return [*(self._begins(Workspace.name, name) for name in sorted(names)), slug]

    def _begins(self, column: Any, begin: str) -> ColumnElement[bool]:
        if self.accounts.session.get_bind().dialect.name == "postgresql":
            column = collate(column, "C")
        return and_(column >= begin, column < begin + _END)

    def _listed(self, rows: Select[Workspace]) -> Sequence[ListedWorkspace]:
        # First the rows of the page: the database would count the members of all rows before it
        # sorts them.
        workspace = aliased(Workspace, rows.subquery())
        some = (
            select(Member.id)
            .where(Member.workspace_id == workspace.id)
            .limit(MAX_MEMBERS + 1)
            .correlate(workspace)
            .subquery()
        )
        members = select(func.count()).select_from(some).scalar_subquery()
        newest = (
            select(AuditEntry.at)
            .where(is_entry_of(workspace.id))
            .order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        listed = select(workspace, members, newest).order_by(workspace.id.desc())
        found = self.accounts.session.execute(listed).all()
        owners = self._owners([each.id for each, *_ in found])
        return [
            ListedWorkspace(each, number, owners.get(each.id, ()), last)
            for each, number, last in found
        ]

    def _owners(self, ids: Sequence[int]) -> Mapping[int, Sequence[WorkspaceOwner]]:
        model = self.accounts.model
        place = func.row_number().over(partition_by=Member.workspace_id, order_by=Member.id)
        ranked = (
            select(Member.workspace_id, Member.account_id, place.label("place"))
            .where(Member.workspace_id.in_(ids), IS_OWNER)
            .subquery()
        )
        rows = self.accounts.session.execute(
            select(ranked.c.workspace_id, model.id, model.email)
            .join(model, model.id == ranked.c.account_id)
            .where(ranked.c.place <= MAX_OWNERS)
            .order_by(ranked.c.workspace_id, ranked.c.place)
        )
        found: dict[int, list[WorkspaceOwner]] = {}
        for workspace_id, account_id, email in rows:
            found.setdefault(workspace_id, []).append(WorkspaceOwner(account_id, email))
        return found
