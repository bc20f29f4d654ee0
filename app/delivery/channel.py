"""A channel: a name, whom it reaches, and a way to send. A worker knows nothing more of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
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
from ..core.db.base import autocommit_engine
from ..core.types import AccountModel
from .message import Receiver, StoredMessage

# Sends one message to one receiver, who comes of the channel's address book. Returns the gateway's
# id of it where there is one; raises one of errors.py when it did not leave. The key is the same
# whenever this delivery is tried again; the last argument is called before the message is out of
# our hands.
Send = Callable[[StoredMessage, Any, str, Callable[[], None]], str | None]

# The function that an application registers for a channel that it adds.
Handler = Callable[[StoredMessage, Receiver], str | None]


class Channel(Protocol):
    name: str

    @property
    def address_book(self) -> AddressBook[Any]:
        """Whom it reaches."""

    def off(self) -> str | None:
        """Why nothing can leave on this channel now, or nothing."""

    def open(self) -> AbstractContextManager[Send]:
        """Return a context in which a batch is sent; raise `Unreachable` if the server is away."""


@dataclass
class HandlerChannel:
    """A channel of the host's, which is called for each receiver."""

    name: str
    handler: Handler
    address_book: AddressBook[Receiver]

    def off(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: StoredMessage, receiver: Receiver, _key: str, before: Callable[[], None]
        ) -> str | None:
            before()
            return self.handler(message, receiver)

        yield send


@dataclass(eq=False)
class Channels:
    """The channels that send. `inapp` only stores, so it is not a channel here."""

    ours: Sequence[Channel]
    # The application's handlers, read at each use: the application may add handlers later.
    handlers: Mapping[str, Handler]
    # Whom those reach.
    accounts: AddressBook[Receiver]

    def get(self, name: str) -> Channel | None:
        if (handler := self.handlers.get(name)) is not None:
            return HandlerChannel(name, handler, self.accounts)
        return next((channel for channel in self.ours if channel.name == name), None)

    def names(self) -> list[str]:
        """Return each name once: an application's channel may replace a channel of the same
        name."""
        return list(dict.fromkeys([*(channel.name for channel in self.ours), *self.handlers]))


AnyReceiver = TypeVar("AnyReceiver")


class AddressBook(Protocol[AnyReceiver]):
    """Receivers of one kind: accounts by their e-mail, endpoints of webhooks, browsers.

    The sender names targets as a query over the ids of one table. The address book turns targets
    into receivers: the same rows, or other rows that belong to them.
    """

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        """The ids of the receivers, as a query; and why nothing can be sent to one, or NULL."""

    def look_up(self, ids: Collection[Any]) -> Mapping[Any, AnyReceiver]:
        """Return the receivers of a batch, read by one query. Deleted receivers are left out."""

    def lacks(self, receiver: AnyReceiver | None) -> str | None:
        """Why nothing can be sent to this one, or nothing; None is one that is gone."""


@dataclass(frozen=True)
class AccountAddressBook:
    """Accounts; the targets are a query over their ids, with their table in it."""

    model: AccountModel
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
        with autocommit_engine(self.database).connect() as connection:
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
