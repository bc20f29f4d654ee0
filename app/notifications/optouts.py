"""The kinds of notifications that accounts turned off, each for one sending channel."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Index, String, delete, select, tuple_
from sqlalchemy.orm import Mapped, mapped_column

from ..accounts.models import AccountLike
from ..core.data_export import DataSubject, ExportReader
from ..core.db.base import Base, account_key, dialect_insert
from ..core.db.id_lists import is_one_of
from ..core.db.tables import WHEN_MOUNTED
from ..core.db.transaction import AnySession, execute_bulk
from ..core.types import AccountKey
from ..delivery.outbox.models import KIND_LENGTH

CHANNEL_LENGTH = 50

KindAndChannel = tuple[str, str]


class OptOut(Base):
    """A kind that an account turned off for a channel. All others are on, without rows."""

    __tablename__ = "frontdesk_notification_optouts"
    __table_args__ = (
        Index("ix_frontdesk_notification_optouts_account_id", "account_id"),
        {"info": {WHEN_MOUNTED: True}},
    )

    # The primary key begins with the kind: one probe finds out whether any account turned it off.
    kind: Mapped[str] = mapped_column(String(KIND_LENGTH), primary_key=True)
    channel: Mapped[str] = mapped_column(String(CHANNEL_LENGTH), primary_key=True)
    account_id: Mapped[AccountKey] = account_key(primary_key=True)


def read_opt_outs(session: AnySession, account_id: AccountKey) -> set[KindAndChannel]:
    rows = select(OptOut.kind, OptOut.channel).where(OptOut.account_id == account_id)
    return {(kind, channel) for kind, channel in session.execute(rows)}


def store_opt_outs(
    session: AnySession, account_id: AccountKey, turned_off: Iterable[KindAndChannel]
) -> None:
    rows = [
        {"kind": kind, "channel": channel, "account_id": account_id} for kind, channel in turned_off
    ]
    if rows:
        insert = dialect_insert(session.get_bind().dialect)
        session.execute(insert(OptOut).values(rows).on_conflict_do_nothing())


def delete_opt_outs(
    session: AnySession, account_id: AccountKey, turned_on: Collection[KindAndChannel]
) -> None:
    if turned_on:
        is_on = tuple_(OptOut.kind, OptOut.channel).in_(list(turned_on))
        execute_bulk(session, delete(OptOut).where(OptOut.account_id == account_id, is_on))


def find_opted_out(
    connection: Connection, channel: str, kinds: Collection[str | None], ids: Collection[AccountKey]
) -> set[tuple[str, AccountKey]]:
    """Return the kinds that these accounts turned off for the channel, each with the account."""
    account_id: Any = OptOut.account_id
    rows = select(OptOut.kind, account_id).where(
        OptOut.kind.in_(list(kinds)),
        OptOut.channel == channel,
        is_one_of(account_id, ids, connection.dialect),
    )
    return {(kind, account_id) for kind, account_id in connection.execute(rows)}


def export_opt_outs(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    columns = select(OptOut.kind, OptOut.channel)
    rows = columns.where(OptOut.account_id == subject.id)
    yield "notifications_off.jsonl", reader.rows(rows, "kind", "channel")


def remove_opt_outs(session: AnySession, account: AccountLike, since: datetime | None) -> None:
    """Turn everything on for the owner of an account that another person created, who may have
    turned it off. `since`: the account was the owner's before, and the opt-outs may be too."""
    if since is None:
        execute_bulk(session, delete(OptOut).where(OptOut.account_id == account.id))
