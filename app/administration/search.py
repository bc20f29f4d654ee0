"""Finding accounts among millions: a page is one walk along an index.

The indexes are those of migration 0017; without them the answers are the same, and slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select

from ..accounts.addresses import fold, read_phone
from ..accounts.errors import InvalidPhone
from ..accounts.models import SUSPENDED
from ..accounts.service import Accounts
from ..accounts.suspension import is_over_row, keeps_dates
from ..core.db.account_ids import IdKind
from ..core.db.base import timestamp_literal
from ..core.errors import Invalid
from ..core.types import Values
from ..core.web.paging import Slice
from .ordering import bytewise, ordering
from .view import AccountView, Details

# Behind whatever begins alike: no address has the last of all characters in it.
_END = "\U0010ffff"


@dataclass(eq=False)
class AccountSearch:
    accounts: Accounts
    view: AccountView
    ids: IdKind
    # Whether an account has a second factor; None where this application keeps none.
    has_factor: ColumnElement[bool] | None

    def page(
        self,
        *,
        limit: int,
        offset: int = 0,
        after: str | None = None,
        sort: str | None = None,
        **filters: object,
    ) -> Slice:
        sort = sort or ("email" if "search" in filters else "-created_at")
        order = ordering(self.accounts.model, sort, self.ids, self._dialect)
        place = None if after is None else order.read_place(after)
        conditions = list(self._conditions(filters))
        found: list[Details] = []
        for part in order.parts(place, offset):
            if (wanted := limit + 1 - len(found)) > 0:
                rows = self.view.rows.where(*conditions, *part.conditions).order_by(*part.by)
                page = self.accounts.session.execute(rows.offset(offset).limit(wanted))
                found += map(self.view.details, page)
        if len(found) > limit:
            return Slice(found[:limit], after=order.place_of(found[limit - 1]))
        is_all = place is None and (found or not offset)
        return Slice(found, total=offset + len(found) if is_all else None)

    @property
    def _dialect(self) -> str:
        return self.accounts.session.get_bind().dialect.name

    def _conditions(self, filters: Values) -> Iterator[ColumnElement[bool]]:
        model = self.accounts.model
        if "search" in filters:
            yield self._named(filters["search"])
        if "status" in filters:
            yield self._in_status(filters["status"], self.accounts.clock.now())
        if "role" in filters:
            yield model.role == filters["role"]
        if "verified" in filters:
            yield self._proven(filters["verified"])
        if "mfa" in filters:
            yield self._with_factor(filters["mfa"])
        if "created_after" in filters:
            yield model.created_at > timestamp_literal(model.created_at, filters["created_after"])
        if "last_login_before" in filters:
            column = self._column("last_login_date", "last_login_before")
            before = timestamp_literal(column, filters["last_login_before"])
            yield or_(column < before, column.is_(None))

    def _named(self, search: str) -> ColumnElement[bool]:
        """Whoever has just this id or number; otherwise those whose address begins so.

        A range and not a pattern: no character of it stands for others.
        """
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
        is_so: ColumnElement[bool] = model.status == status
        if not keeps_dates(model):
            return is_so
        until = model.suspended_until
        if status == SUSPENDED:
            return and_(is_so, or_(until.is_(None), until > timestamp_literal(until, now)))
        return (
            or_(is_so, is_over_row(model, now)) if status == self.accounts.active_status else is_so
        )

    def _proven(self, is_proven: bool) -> ColumnElement[bool]:
        since = self._column("email_unverified_since", "verified")
        proven: ColumnElement[bool] = since.is_(None) if is_proven else since.is_not(None)
        return proven

    def _with_factor(self, has_one: bool) -> ColumnElement[bool]:
        if self.has_factor is None:
            raise Invalid.about("mfa", "The accounts of this application have no second factors.")
        return self.has_factor if has_one else ~self.has_factor

    def _column(self, name: str, parameter: str) -> Any:
        column = getattr(self.accounts.model, name, None)
        if column is None:
            text = f"The accounts of this application have no {name}."
            raise Invalid.about(parameter, text)
        return column
