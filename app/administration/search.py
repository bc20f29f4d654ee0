"""Finds and counts accounts among millions: a page is one range of an index.

The indexes are those of migration 0017; without them the results are the same, and slower.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, func, or_, select, text

from ..accounts.addresses import fold, read_phone
from ..accounts.errors import InvalidPhone
from ..accounts.models import SUSPENDED, is_over_row, keeps_dates
from ..accounts.service import Accounts
from ..core.db.account_ids import IdKind
from ..core.db.base import timestamp_literal
from ..core.db.transaction import AnySession
from ..core.errors import Invalid
from ..core.types import AccountModel
from ..core.web.paging import Slice
from .ordering import bytewise, find_ordering
from .schemas import AccountQuery
from .view import AccountView, Details

# The end of a range of email addresses with the same start: none has the last Unicode character.
_END = "\U0010ffff"


@dataclass(eq=False)
class AccountSearch:
    accounts: Accounts
    view: AccountView
    ids: IdKind
    # The condition that an account uses MFA; None if the application has no MFA.
    has_factor: ColumnElement[bool] | None

    def page(self, query: AccountQuery.Input) -> Slice:
        limit, offset, after = query["limit"], query["offset"], query.get("after")
        sort = query.get("sort", "email" if "search" in query else "-created_at")
        order = find_ordering(self.accounts.model, sort, self.ids, self._dialect)
        cursor = None if after is None else order.parse_cursor(after)
        conditions = list(self._conditions(query))
        found: list[Details] = []
        for part in order.parts(cursor, offset):
            if (wanted := limit + 1 - len(found)) > 0:
                rows = self.view.rows.where(*conditions, *part.conditions).order_by(*part.order_by)
                page = self.accounts.session.execute(rows.offset(offset).limit(wanted))
                found += map(self.view.details, page)
        if len(found) > limit:
            return Slice(found[:limit], after=order.create_cursor(found[limit - 1]))
        is_all = cursor is None and (found or not offset)
        return Slice(found, total=offset + len(found) if is_all else None)

    @property
    def _dialect(self) -> str:
        return self.accounts.session.get_bind().dialect.name

    def _conditions(self, filters: AccountQuery.Input) -> Iterator[ColumnElement[bool]]:
        model = self.accounts.model
        if "search" in filters:
            yield self._matches(filters["search"])
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
        if "last_login_before" in filters:
            column = self._column("last_login_date", "last_login_before")
            before = timestamp_literal(column, filters["last_login_before"])
            yield or_(column < before, column.is_(None))

    def _matches(self, search: str) -> ColumnElement[bool]:
        """Return the condition for the account with this id or phone number, if it exists, or else
        for addresses with this beginning."""
        exact = self._exact(search)
        if exact is not None:
            found = select(self.accounts.model.id).where(exact).limit(1)
            if self.accounts.session.scalar(found) is not None:
                return exact
        begin, email = fold(search), bytewise(self.accounts.model.email, self._dialect)
        return and_(email >= begin, email < begin + _END)

    def _exact(self, search: str) -> ColumnElement[bool] | None:
        model = self.accounts.model
        if search.startswith("+"):
            try:
                phone: ColumnElement[bool] = model.phone == read_phone(search)
            except InvalidPhone:
                return None
            return phone
        if not re.fullmatch(self.ids.pattern, search, re.ASCII):
            return None
        try:
            has_id: ColumnElement[bool] = model.id == self.ids.from_path(search)
        except ValueError:
            return None
        return has_id

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
            raise Invalid.about("mfa", "The accounts of this application have no MFA.")
        return self.has_factor if uses_mfa else ~self.has_factor

    def _column(self, name: str, parameter: str) -> Any:
        column = getattr(self.accounts.model, name, None)
        if column is None:
            raise Invalid.about(parameter, f"The accounts of this application have no {name}.")
        return column


# Accounts are counted up to this number, since counting a million takes too long for a page.
MAX_COUNT = 10_000
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
