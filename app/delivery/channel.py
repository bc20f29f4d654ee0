"""A channel: a name, the receivers that it reaches, and a way to send."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import ColumnElement, Engine, Select, String, case, literal, null, select

from ..core.db.account_ids import IdKind
from ..core.db.base import autocommit_engine
from ..core.db.id_lists import is_one_of
from ..core.types import AccountKey, AccountModel
from .message import Receiver, StoredMessage
from .personal import personalized

# Sends one message to one receiver of the channel's address book. Returns the gateway's id of the
# message, if there is one; raises one of errors.py if the message was not sent. The key is the same
# for each attempt of a delivery; the last argument is called before the message is handed over.
Send = Callable[[StoredMessage, Any, str, Callable[[], None]], str | None]

# The function that an application registers for a channel that it adds.
Handler = Callable[[StoredMessage, Receiver], str | None]


class Channel(Protocol):
    name: str

    @property
    def address_book(self) -> AddressBook[Any]:
        """The receivers of the channel."""

    def disabled_reason(self) -> str | None:
        """Return why the channel cannot send, or None."""

    def open(self) -> AbstractContextManager[Send]:
        """Return a context in which a batch is sent; raise `Unreachable` if the server is away."""


@dataclass
class HandlerChannel:
    """An application's channel, which calls its handler for each receiver."""

    name: str
    handler: Handler
    address_book: AddressBook[Receiver]

    def disabled_reason(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: StoredMessage, receiver: Receiver, _key: str, before_send: Callable[[], None]
        ) -> str | None:
            before_send()
            return self.handler(personalized(message), receiver)

        yield send


@dataclass(eq=False)
class Channels:
    """The channels that send. `inapp` only stores, so it is not a channel here."""

    built_in: Sequence[Channel]
    # The application's handlers, read at each use: the application may add handlers later.
    handlers: Mapping[str, Handler]
    # The receivers of the application's channels.
    accounts: AddressBook[Receiver]

    def get(self, name: str) -> Channel | None:
        if (handler := self.handlers.get(name)) is not None:
            return HandlerChannel(name, handler, self.accounts)
        return next((channel for channel in self.built_in if channel.name == name), None)

    def names(self) -> list[str]:
        """Return each name once: an application's channel may replace a channel of the same
        name."""
        return list(dict.fromkeys([*(channel.name for channel in self.built_in), *self.handlers]))


AnyReceiver = TypeVar("AnyReceiver")


class AddressBook(Protocol[AnyReceiver]):
    """Receivers of one kind: accounts with an email address, webhook endpoints, browsers.

    The sender names targets as a query over the ids of one table. The address book turns targets
    into receivers: the same rows, or other rows that belong to them.
    """

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        """Return a query of the receivers' ids, and a column with the reason to skip a receiver,
        or NULL."""

    def load(self, ids: Collection[Any]) -> Mapping[Any, AnyReceiver]:
        """Return the receivers of a batch, read by one query. Deleted receivers are left out."""

    def skip_reason(self, receiver: AnyReceiver | None) -> str | None:
        """Return why this receiver is skipped, or None. A deleted receiver is passed as None."""


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
        is_missing = column.is_(None) | (column == "")
        return targets, case((is_missing, f"The account has no {self.needs}"), else_=null())

    def load(self, ids: Collection[AccountKey]) -> Mapping[AccountKey, Receiver]:
        account = self.model
        is_receiver = is_one_of(account.id, ids, self.database.dialect)
        with autocommit_engine(self.database).connect() as connection:
            # The model of an application can be without languages.
            locale = getattr(account, "locale", None)
            columns = (account.id, account.email, account.phone)
            rows = connection.execute(
                select(*columns, null() if locale is None else locale).where(is_receiver)
            )
            return {row[0]: Receiver(*row) for row in rows}

    def skip_reason(self, receiver: Receiver | None) -> str | None:
        if receiver is None:
            return "The account was deleted"
        if self.needs and not getattr(receiver, self.needs):
            return f"The account has no {self.needs}"
        return None


def receiver_id_reader(book: AddressBook[Any]) -> Callable[[Any], AccountKey]:
    """Return the function that turns a delivery's `receiver_id` into an id of the address book.

    The column is text if the application's account ids are not integers. The ids of receivers
    other than accounts are always integers.
    """
    return book.kind.from_text if isinstance(book, AccountAddressBook) else int


class ClaimedMessage(NamedTuple):
    delivery_id: int
    account_id: AccountKey
    message: StoredMessage


class RecipientChoices(Protocol):
    def skip_opted_out(
        self,
        receivers: Select[Any],
        reason: ColumnElement[str | None],
        kind: str | None,
        channel: str,
    ) -> tuple[Select[Any], ColumnElement[str | None]]:
        """Return the query of accounts and the column with the reason to skip one, changed so that
        accounts that turned the kind off are skipped."""

    def skip_reasons(self, channel: str, claimed: Sequence[ClaimedMessage]) -> Mapping[int, str]:
        """Return why deliveries of a batch are skipped now, by their ids."""

    def preferences_url(self, kind: str | None) -> str | None:
        """Return the URL of the page that turns the kind off, or None if nothing does."""

    def unsubscribe_url(self, account_id: AccountKey, kind: str | None, channel: str) -> str | None:
        """Return the URL that turns the kind off with one POST, or None if nothing does."""
