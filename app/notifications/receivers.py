"""Whom a notification is for, as a query rather than a list: all accounts, or these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from sqlalchemy import Select, Table, bindparam, column, func, insert, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from ..core.db.transaction import AnySession
from .errors import UnknownReceivers
from .models import InboxItem

NAMED_IN_AN_ERROR = 20


def account_ids(accounts: Iterable[Any]) -> list[Any]:
    """Of accounts, or of their ids."""
    return [getattr(each, "id", each) for each in accounts]


@dataclass(frozen=True)
class Audience:
    session: AnySession
    account_model: type[Any]
    # None: all accounts.
    ids: Sequence[Any] | None

    @classmethod
    def of(
        cls, session: AnySession, account_model: type[Any], ids: Iterable[Any] | None
    ) -> Audience:
        """The accounts of these ids, each of which there must be."""
        chosen = None if ids is None else list(dict.fromkeys(ids))
        audience = cls(session, account_model, chosen)
        if unknown := audience._unknown():
            raise UnknownReceivers(unknown)
        return audience

    def rewritten(self, hook: Any) -> Audience:
        """As the host's hook will have it; it is given the accounts themselves."""
        accounts = self._restricted(select(self.account_model).order_by(self.account_model.id))
        chosen = hook(list(self.session.scalars(accounts)), self.session)
        ids = list(dict.fromkeys(account_ids(chosen)))
        return Audience(self.session, self.account_model, ids)

    def fill_inbox(self, notification_id: int) -> int:
        """An unread row for each of them; says how many there are."""
        rows = select(literal(notification_id), self.account_model.id, literal(False))
        statement = insert(cast(Table, InboxItem.__table__)).from_select(
            ["notification_id", "receiver_id", "is_read"], self._restricted(rows)
        )
        result: Any = self.session.execute(
            statement.inline(), execution_options={"preserve_rowcount": True}
        )
        return int(result.rowcount)

    def targets(self, notification_id: int | None) -> Select[Any]:
        """The ids of those it goes out to. With inbox rows, exactly their accounts: others may have
        come in the meantime."""
        account = self.account_model
        if notification_id is None:
            return self._restricted(select(account.id))
        return (
            select(InboxItem.receiver_id)
            .join(account, account.id == InboxItem.receiver_id)
            .where(InboxItem.notification_id == notification_id)
        )

    def _restricted(self, statement: Select[Any]) -> Select[Any]:
        if self.ids is None:
            return statement
        return statement.where(self.account_model.id.in_(select(self._given())))

    def _unknown(self) -> Sequence[Any]:
        if not self.ids:
            return []
        given = self._given()
        known = select(self.account_model.id).where(self.account_model.id == given).exists()
        missing = select(given).where(~known).limit(NAMED_IN_AN_ERROR)
        return list(self.session.scalars(missing))

    def _given(self) -> Any:
        """The ids as one parameter: neither database takes a hundred thousand of them."""
        ids = list(self.ids or ())
        kind = self.account_model.id.type
        dialect = self.session.get_bind().dialect
        if dialect.name == "postgresql":
            return func.unnest(bindparam(None, ids, type_=ARRAY(kind))).column_valued("given")
        # As they are stored, which is not always as Python has them.
        if (write := kind.dialect_impl(dialect).bind_processor(dialect)) is not None:
            ids = [write(each) for each in ids]
        text = orjson.dumps(ids).decode()
        value: Any = column("value", kind)
        return func.json_each(text).table_valued(value, name="given").c.value
