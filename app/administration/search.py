"""Finds and counts accounts among millions: a page is one range of an index.

The indexes are those of migration 0017; without them the results are the same, and slower.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    SelectBase,
    and_,
    func,
    or_,
    select,
    text,
    union_all,
)

from ..accounts.actions import ACCOUNTS_DOWNLOADED
from ..accounts.models import SUSPENDED, is_over_row, keeps_dates
from ..accounts.search import (
    MAX_COUNT,
    AccountFinder,
    Matches,
    count_limit,
    count_rows,
    read_counted,
)
from ..accounts.service import Accounts
from ..core.context import report_action
from ..core.db.account_ids import IdKind
from ..core.db.base import timestamp_literal
from ..core.db.transaction import AnySession, is_in_use, release, transaction, unprepared
from ..core.errors import Invalid
from ..core.types import AccountModel
from ..core.web.paging import Slice, slice_of
from .ordering import Cursor, Ordering, Part, find_ordering
from .rules import accounts_lack
from .schemas import AccountQuery
from .view import AccountView, Details

EXPORT_ROWS = 1_000
# For each account of a page, so many are checked before all frequent matches are read and sorted,
# but not fewer than for a page of this size.
_NEAR = 60
_USUAL_PAGE = 50
# More matches are looked for among the first accounts of the list before they are sorted.
_FEW = 2_000
_FIRST = 20_000

# The row count of PostgreSQL's statistics.
_STATISTICS = text("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(:name)")


class Estimate(NamedTuple):
    number: int
    # `exactly`, `about` or `over`.
    how: str


def estimate(session: AnySession, model: AccountModel) -> Estimate:
    """Return the number of accounts: exact up to MAX_COUNT, then from the statistics."""
    some = select(model.id).limit(MAX_COUNT + 1).subquery()
    counted = session.scalar(select(func.count()).select_from(some)) or 0
    if counted <= MAX_COUNT:
        return Estimate(counted, "exactly")
    dialect = session.get_bind().dialect
    if dialect.name == "postgresql":
        name = dialect.identifier_preparer.format_table(model.__table__)
        number = session.scalar(_STATISTICS, {"name": name})
        if number is not None and number > MAX_COUNT:
            return Estimate(_round(number), "about")
    return Estimate(MAX_COUNT, "over")


def _round(count: int) -> int:
    """Round to three digits, as the statistics are not exact."""
    step: int = 10 ** max(len(str(count)) - 3, 0)
    return round(count / step) * step


@dataclass(eq=False)
class AccountSearch:
    accounts: Accounts
    finder: AccountFinder
    view: AccountView
    ids: IdKind
    # The condition that an account uses MFA; None if the application has no MFA.
    has_factor: ColumnElement[bool] | None

    def page(self, query: AccountQuery.Input, most: int | None = None) -> Slice:
        """Return a page of the accounts. The total of a search is known up to `most` matches."""
        limit, offset, is_backward = query["limit"], query["offset"], "before" in query
        sort = query.get("sort", "email" if "search" in query else "-created_at")
        order = find_ordering(self.accounts.model, sort, self.ids, self._dialect)
        cursor = _read_cursor(order, query)
        order_of_page = order.reversed if is_backward else order
        found, total = self._find(query, order_of_page, cursor, limit + 1, most)
        if len(found) <= limit and cursor is None and (found or not offset):
            total = offset + len(found)
        return slice_of(
            [*map(self.view.details, found)],
            limit,
            order.create_cursor,
            is_first=cursor is None,
            is_backward=is_backward,
            read_first=lambda: self.page(_without_cursor(query), most),
            total=total,
        )

    def count(self, query: AccountQuery.Input) -> Estimate:
        """Return the number of accounts that a page's query finds: exact up to MAX_COUNT."""
        session, conditions = self.accounts.session, list(self._conditions(query))
        if "search" not in query and not conditions:
            return estimate(session, self.accounts.model)
        # The plan of a prepared statement, for all statuses, does not use a partial index.
        with unprepared(session):
            if "search" in query:
                counted = self.finder.find(query["search"]).count(*conditions)
            else:
                some = select(self.accounts.model.id).where(*conditions).limit(MAX_COUNT + 1)
                counted = session.scalar(select(func.count()).select_from(some.subquery())) or 0
        most = count_limit(query["search"]) if "search" in query else MAX_COUNT
        return Estimate(most, "over") if counted > most else Estimate(counted, "exactly")

    def _find(
        self,
        query: AccountQuery.Input,
        order: Ordering,
        cursor: Cursor | None,
        wanted: int,
        most: int | None,
    ) -> tuple[list[Row[Any]], int | None]:
        """Return the rows of a page, and the number of a search's matches if this is known."""
        conditions, offset = list(self._conditions(query)), query["offset"]
        parts = list(order.parts(cursor, offset))
        rows = self.view.rows.where(*conditions)
        if "search" not in query and not conditions:
            return self._read(rows, parts, offset, wanted), None
        with unprepared(self.accounts.session):
            if "search" not in query:
                return self._read(rows, parts, offset, wanted), None
            matches = self.finder.find(query["search"], most=most)
            along = parts[0] if order.has_id_in_index and not offset else None
            total, ids = self._count(matches, conditions, along)
            every = rows.where(matches.in_index(*conditions))
            if total <= matches.most:
                has_page = along is None or total <= _FEW or len(ids) >= wanted
                searched = rows.where(matches.among(ids)) if has_page else every
                return self._read(searched, parts, offset, wanted), total
            # Frequent matches are near the start of most orders.
            near = (_NEAR // 5 * wanted, _NEAR * max(wanted, _USUAL_PAGE))
            for within in () if offset else near:
                # The second part follows only accounts that are all searched.
                is_all = len(parts) == 1 or self._is_within(parts[0], within)
                near_parts = parts if is_all else parts[:1]
                found = self._read(rows.where(matches.of_row()), near_parts, 0, wanted, within)
                if len(found) == wanted:
                    return found, None
            return self._read(every, parts, offset, wanted), None

    def _count(
        self, matches: Matches, conditions: Sequence[ColumnElement[bool]], along: Part | None
    ) -> tuple[int, Collection[Any]]:
        """Return the number of matches, and their ids unless there are too many to count.

        Of more than a few, only the ids are returned that are among the first accounts of the part
        `along`, which one range of an index has.
        """
        if matches.only is not None and not conditions:
            return 1, [matches.only]
        found = matches.found(*conditions)
        counted = count_rows(found)
        total = select(counted.c.total).scalar_subquery()
        few = matches.most if along is None else min(_FEW, matches.most)
        ids: SelectBase = select(found.c.id).where(total <= few)
        if along is not None:
            first = select(self.accounts.model.id).where(*along.conditions)
            [account_id] = first.order_by(*along.order_by).limit(_FIRST).subquery().c
            many = select(account_id).join(found, found.c.id == account_id)
            ids = union_all(ids, many.where(total.between(_FEW + 1, matches.most)))
        return read_counted(self.accounts.session, counted, ids)

    def _is_within(self, part: Part, number: int) -> bool:
        """Return whether a part has at most this number of accounts."""
        accounts = select(self.accounts.model.id).where(*part.conditions).order_by(*part.order_by)
        return self.accounts.session.scalar(accounts.offset(number).limit(1)) is None

    def _read(
        self,
        rows: Select[Any],
        parts: Sequence[Part],
        offset: int,
        wanted: int,
        within: int | None = None,
    ) -> list[Row[Any]]:
        """Return the first rows of the parts. With `within`, only the first accounts of each part
        are searched."""
        found: list[Row[Any]] = []
        for part in parts:
            if (missing := wanted - len(found)) > 0:
                page = rows.where(*part.conditions).order_by(*part.order_by)
                if within is not None:
                    page = self._among_first(rows, part, within)
                found += self.accounts.session.execute(page.offset(offset).limit(missing))
        return found

    def _among_first(self, rows: Select[Any], part: Part, within: int) -> Select[Any]:
        """Select the rows among the first accounts of a part. The order is that of the subquery's
        columns, so that the database stops at the last row of the page."""
        keys = [each.element.label(f"key_{n}") for n, each in enumerate(part.order_by)]
        account_id = self.accounts.model.id
        accounts = select(account_id.label("first_id"), *keys).where(*part.conditions)
        first = accounts.order_by(*part.order_by).limit(within).subquery()
        order_by = [
            each.modifier(first.c[key.name]) for each, key in zip(part.order_by, keys, strict=True)
        ]
        return rows.join(first, first.c.first_id == account_id).order_by(*order_by)

    def export(
        self, query: AccountQuery.Input, format: str, write: Callable[[Sequence[Details]], bytes]
    ) -> Iterator[bytes]:
        """Return the matching accounts as `write` returns them, one batch at a time, and record
        the download."""
        # A session that the application uses is not released.
        in_use = is_in_use(self.accounts.session)

        def batch(after: str | None) -> tuple[bytes, str | None]:
            part: AccountQuery.Input = {**query, "limit": EXPORT_ROWS, "offset": 0}
            if after is not None:
                part["after"] = after
            found = self.page(part)
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

    def _conditions(self, filters: AccountQuery.Input) -> Iterator[ColumnElement[bool]]:
        model = self.accounts.model
        if "status" in filters:
            yield self._in_status(filters["status"], self.accounts.clock.now())
        if "role" in filters:
            yield model.role == filters["role"]
        if "verified" in filters:
            yield self._is_verified(filters["verified"])
        if "mfa" in filters:
            yield self._uses_mfa(filters["mfa"])
        if "created_after" in filters:
            yield model.created_at > timestamp_literal(model.created_at, filters["created_after"])
        if "last_login_after" in filters:
            column = self._column("last_login_date", "last_login_after")
            yield column > timestamp_literal(column, filters["last_login_after"])
        if "last_login_before" in filters:
            column = self._column("last_login_date", "last_login_before")
            before = timestamp_literal(column, filters["last_login_before"])
            yield or_(column < before, column.is_(None))

    def _in_status(self, status: str, now: datetime) -> ColumnElement[bool]:
        """Return the condition for a shown status: an expired suspension is shown as active."""
        model = self.accounts.model
        has_status: ColumnElement[bool] = model.status == status
        if not keeps_dates(model):
            return has_status
        until = model.suspended_until
        if status == SUSPENDED:
            return and_(has_status, or_(until.is_(None), until > timestamp_literal(until, now)))
        return (
            or_(has_status, is_over_row(model, now))
            if status == self.accounts.active_status
            else has_status
        )

    def _is_verified(self, is_verified: bool) -> ColumnElement[bool]:
        since = self._column("email_unverified_since", "verified")
        condition: ColumnElement[bool] = since.is_(None) if is_verified else since.is_not(None)
        return condition

    def _uses_mfa(self, uses_mfa: bool) -> ColumnElement[bool]:
        if self.has_factor is None:
            raise Invalid.about("mfa", accounts_lack("MFA"))
        return self.has_factor if uses_mfa else ~self.has_factor

    def _column(self, name: str, parameter: str) -> Any:
        column = getattr(self.accounts.model, name, None)
        if column is None:
            raise Invalid.about(parameter, accounts_lack(name))
        return column


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
