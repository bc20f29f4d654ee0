"""Lists accounts among millions, or finds them by a text.

A page of all accounts is one range of an index, created by our migrations for the service's own
table; without these indexes the results are the same, and slower. Up to MAX_MATCHES matches of a
search are sorted for each page. More are listed from the newest accounts on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select

from ..accounts.actions import ACCOUNTS_DOWNLOADED
from ..accounts.search import MAX_CHECKED, AccountFinder, Matches
from ..accounts.service import Accounts
from ..core.context import report_action
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.estimates import Estimate, count_rows, estimate
from ..core.db.transaction import is_in_use, release, transaction, unprepared
from ..core.web.paging import Slice, slice_of
from .filters import AccountFilters
from .ordering import ID, Cursor, Ordering, Part, find_ordering
from .schemas import AccountQuery
from .view import AccountView, Details

EXPORT_ROWS = 1_000
NEWEST_FIRST = "-created_at"


@dataclass(eq=False)
class AccountSearch:
    accounts: Accounts
    finder: AccountFinder
    view: AccountView
    ids: IdKind
    filters: AccountFilters

    def page(self, query: AccountQuery.Input) -> Slice:
        """Return a page of the accounts, with the total of a search up to MAX_MATCHES.

        More matches are found among the newest MAX_CHECKED accounts with the filters, the newest
        first: a frequent name is spread over the whole table in every other order.
        """
        return self._page(query, self._matches(query))

    def count(self, query: AccountQuery.Input) -> Estimate:
        """Return the number of accounts with the filters of a query without a search."""
        session, conditions = self.accounts.session, [*self.filters.conditions(query)]
        if not conditions:
            return estimate(session, self.accounts.model)
        with unprepared(session):
            return count_rows(session, select(self.accounts.model.id).where(*conditions))

    def _matches(self, query: AccountQuery.Input) -> Matches | None:
        if "search" not in query:
            return None
        with unprepared(self.accounts.session):
            return self.finder.find(query["search"])

    def _page(
        self, query: AccountQuery.Input, matches: Matches | None, *, is_export: bool = False
    ) -> Slice:
        """Return a page. Many matches of an export are found in the MAX_CHECKED accounts that
        follow its position, and the next page follows these."""
        limit, offset, is_backward = query["limit"], query["offset"], "before" in query
        conditions, has_many = [*self.filters.conditions(query)], matches and matches.ids is None
        sort = query.get("sort", "email" if matches else NEWEST_FIRST)
        sort = NEWEST_FIRST if has_many else sort
        order = find_ordering(self.accounts.model, sort, self.ids, self._dialect)
        cursor, total, last = _read_cursor(order, query), None, None
        # The plan of a prepared statement, for all statuses, does not use a partial index.
        is_prepared = not (matches or conditions)
        with nullcontext() if is_prepared else unprepared(self.accounts.session):
            if has_many:
                last = self._last_checked(conditions, order, cursor if is_export else None)
                conditions += () if last is None else (~order.after(last),)
            elif matches and matches.ids is not None:
                matches = self._filtered(matches, conditions)
                total = len(matches.ids or ())
            rows = self.view.rows.where(*conditions, *((matches.is_match,) if matches else ()))
            parts = (order.reversed if is_backward else order).parts(cursor, offset)
            found = self._read(rows, parts, offset, limit + 1)
        is_last = len(found) <= limit and last is None
        if total is None and is_last and cursor is None and (found or not offset):
            total = offset + len(found)
        page = slice_of(
            [*map(self.view.details, found)],
            limit,
            order.create_cursor,
            is_first=cursor is None,
            is_backward=is_backward,
            read_first=lambda: self._page(_without_cursor(query), matches),
            total=total,
        )
        if is_export and last is not None and page.after is None:
            after = {order.name: last.value, ID: serialize_id(last.id)}
            return page._replace(after=order.create_cursor(after))
        return page

    def _last_checked(
        self, conditions: Sequence[ColumnElement[bool]], order: Ordering, start: Cursor | None
    ) -> Cursor | None:
        """Return the last of MAX_CHECKED accounts in the order, or None if there are fewer."""
        part = next(order.parts(start, 0))
        rows = select(order.column, self.accounts.model.id).where(*conditions, *part.conditions)
        last = rows.order_by(*part.order_by).offset(MAX_CHECKED - 1).limit(1)
        row = self.accounts.session.execute(last).one_or_none()
        return None if row is None else Cursor(*row)

    def _filtered(self, matches: Matches, conditions: Sequence[ColumnElement[bool]]) -> Matches:
        if not conditions:
            return matches
        ids = select(self.accounts.model.id).where(matches.is_match, *conditions)
        return self.finder.of_ids(self.accounts.session.scalars(ids).all())

    def _read(
        self, rows: Select[Any], parts: Iterator[Part], offset: int, wanted: int
    ) -> list[Row[Any]]:
        """Return the first rows of the parts."""
        found: list[Row[Any]] = []
        for part in parts:
            if (missing := wanted - len(found)) > 0:
                page = rows.where(*part.conditions).order_by(*part.order_by)
                found += self.accounts.session.execute(page.offset(offset).limit(missing))
        return found

    def export(
        self, query: AccountQuery.Input, format: str, write: Callable[[Sequence[Details]], bytes]
    ) -> Iterator[bytes]:
        """Return all matching accounts as `write` returns them, one batch at a time, and record
        the download."""
        # A session that the application uses is not released.
        in_use = is_in_use(self.accounts.session)
        matches = self._matches(query)

        def batch(after: str | None) -> tuple[bytes, str | None]:
            part: AccountQuery.Input = {**query, "limit": EXPORT_ROWS, "offset": 0}
            if after is not None:
                part["after"] = after
            found = self._page(part, matches, is_export=True)
            written = write(found.rows)
            if not in_use:
                # A slow client does not keep a database connection.
                release(self.accounts.session)
            return written, found.after

        # The first batch is read before the response starts, so that errors are still reported.
        written, after = batch(None)
        filters = sorted(query.keys() - {"limit", "offset", "after", "sort"})
        with transaction(self.accounts.session) as session:
            report_action(session, ACCOUNTS_DOWNLOADED, format=format, filters=filters)
        return _batches(batch, written, after)

    @property
    def _dialect(self) -> str:
        return self.accounts.session.get_bind().dialect.name


def _batches(
    batch: Callable[[str], tuple[bytes, str | None]], written: bytes, after: str | None
) -> Iterator[bytes]:
    yield written
    while after is not None:
        written, after = batch(after)
        yield written


def _read_cursor(order: Ordering, query: AccountQuery.Input) -> Cursor | None:
    if "before" in query:
        return order.parse_cursor(query["before"], "before")
    return order.parse_cursor(query["after"], "after") if "after" in query else None


def _without_cursor(query: AccountQuery.Input) -> AccountQuery.Input:
    first = query.copy()
    first.pop("before", None)
    return first
