"""Reads accounts as plain rows for each request, without creating objects."""

from collections import namedtuple
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, bindparam, inspect, select, type_coerce
from sqlalchemy.orm import Mapper, make_transient_to_detached
from sqlalchemy.orm.attributes import set_committed_value

from ..core.clock import Clock
from ..core.db.base import UtcDateTime
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, AccountModel
from .models import MOMENTS, SUSPENDED, AccountLike, is_over, queried_attributes


class Credentials(NamedTuple):
    account_id: object
    password_hash: str | None
    tokens_valid_from: datetime | None


class AccountRows:
    def __init__(
        self, session: AnySession, model: AccountModel, clock: Clock, active_status: str
    ) -> None:
        self.session = session
        self.clock = clock
        self.active_status = active_status
        self._mapper: Mapper[Any] = inspect(model)
        # Deferred columns of the application are not read for every request. An attribute may be a
        # synonym or an expression instead of a column.
        mapped = [name.key for name in self._mapper.column_attrs if not name.deferred]
        # The names of a row's values, in order.
        self.columns: Sequence[str] = [
            *mapped,
            *(name for name in queried_attributes(model) if name not in mapped),
        ]
        # Names that a namedtuple cannot have, such as `_secret`, are renamed.
        self._row: Any = namedtuple("AccountRow", self.columns, rename=True)  # type: ignore[misc]
        self._asked = [to_read(model, name) for name in self.columns]
        self._rows = Rows(select(*self._asked).where(model.email == bindparam("email")))
        since = to_read(model, "tokens_valid_from")
        self._credentials = Rows(
            select(model.id, model.password_hash, since).where(model.email == bindparam("email"))
        )

    def read(self, email: str) -> AccountLike | None:
        """Return the account with the folded email address as a plain row, or None."""
        rows = self._rows.read(self.session, email=email)
        return self.of(rows[0]) if rows else None

    def selected(self, *more: object) -> Select[Any]:
        """Return a query for accounts with additional columns."""
        return select(*self._asked, *more)

    def of(self, values: Sequence[Any]) -> AccountLike:
        row = self._row._make(values)
        if row.status == SUSPENDED and is_over(row, self.clock.now()):
            row = row._replace(status=self.active_status)
        return cast(AccountLike, row)

    def attach(self, row: AccountLike) -> AccountLike:
        """Return the account of a row as an object of the session, without a query."""
        mapper = self._mapper
        present: AccountLike | None = self.session.identity_map.get(
            mapper.identity_key_from_primary_key((row.id,))
        )
        if present is not None:
            return present
        account = mapper.class_manager.new_instance()
        for name, value in zip(self.columns, cast(Any, row), strict=True):
            if name in mapper.column_attrs:
                set_committed_value(account, name, value)
        make_transient_to_detached(account)
        self.session.add(account)
        return cast(AccountLike, account)

    def emails(self, ids: Collection[AccountKey]) -> dict[AccountKey, str]:
        """Return the email addresses of existing accounts by their ids."""
        if not ids:
            return {}
        model = self._mapper.class_
        rows = self.session.execute(select(model.id, model.email).where(model.id.in_(ids)))
        return {row[0]: row[1] for row in rows}

    def credentials(self, email: str) -> Credentials:
        """Return the id, the hash and the time of the last revocation for a folded email address;
        without an account, all three are `None`."""
        rows = self._credentials.read(self.session, email=email)
        return Credentials(*rows[0]) if rows else Credentials(None, None, None)


def to_read(model: AccountModel, name: str) -> Any:
    """Return the time with UTC as its offset if it has none: an application may store none."""
    found = getattr(model, name)
    if name in MOMENTS and not isinstance(found.type, UtcDateTime):
        return type_coerce(found, UtcDateTime).label(name)
    return found
