"""Who can be reached on a channel, and how: the channel's own knowledge, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    ColumnElement,
    Engine,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    null,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from ..core.db.account_ids import IdKind
from ..core.db.base import autocommitting
from .message import Receiver

AnyReceiver = TypeVar("AnyReceiver")


class AddressBook(Protocol[AnyReceiver]):
    """Receivers of one kind: accounts by their e-mail, endpoints of webhooks, browsers.

    Whoever sends names targets as a query over the ids of one table. The address book makes
    receivers of them: the same rows, or others that belong to them.
    """

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        """The ids of the receivers, as a query; and why nothing can be sent to one, or NULL."""

    def look_up(self, ids: Collection[Any]) -> Mapping[Any, AnyReceiver]:
        """The receivers of a batch, asked for together. Who is gone is not among them."""

    def lacks(self, receiver: AnyReceiver | None) -> str | None:
        """Why nothing can be sent to this one, or nothing; None is one that is gone."""


@dataclass(frozen=True)
class AccountAddressBook:
    """Accounts; the targets are a query over their ids, with their table in it."""

    model: type[Any]
    database: Engine
    kind: IdKind
    # The column without which nothing can be sent: `email`, `phone`, or none.
    needs: str | None = None

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        if self.needs is None:
            return targets, literal(None, String)
        column = getattr(self.model, self.needs)
        lacking = column.is_(None) | (column == "")
        return targets, case((lacking, f"The account has no {self.needs}"), else_=null())

    def look_up(self, ids: Collection[Any]) -> Mapping[Any, Receiver]:
        account = self.model
        if self.database.dialect.name == "postgresql":
            # One value, and so one statement for batches of every size.
            given = bindparam(None, list(ids), type_=ARRAY(account.id.type))
            theirs = account.id == func.any(given)
        else:
            theirs = account.id.in_(ids)
        with autocommitting(self.database).connect() as connection:
            rows = connection.execute(
                select(account.id, account.email, account.phone).where(theirs)
            )
            return {row[0]: Receiver(*row) for row in rows}

    def lacks(self, receiver: Receiver | None) -> str | None:
        if receiver is None:
            return "The account is gone"
        if self.needs and not getattr(receiver, self.needs):
            return f"The account has no {self.needs}"
        return None


def reader_of(book: AddressBook[Any]) -> Callable[[Any], Any]:
    """What an address book has for a receiver's id in a delivery's row, where it is text if the
    application's accounts have no whole numbers; receivers of other kinds always have."""
    return book.kind.from_text if isinstance(book, AccountAddressBook) else int
