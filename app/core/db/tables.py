"""Our tables in a host's metadata.

Our models are mapped once, in a registry and a metadata of our own. What creates tables and finds
migrations (`db.create_all()`, `flask db migrate`) looks into the host's metadata, so that gets a
copy of each table, whose columns that name accounts refer to the host's. Statements are made from
the models and meet the host's tables by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Column, ForeignKey, MetaData, Table

from ..errors import SetupError
from ..types import AccountModel
from .account_ids import INTEGER_IDS, IdKind, id_kind_of, receiver_type
from .base import ACCOUNT_KEY, RECEIVER_KEY, Base

# Of a table that an application has only where its blueprint is mounted.
WHEN_MOUNTED = "frontdesk_when_mounted"

_OURS = "frontdesk"


@dataclass(frozen=True)
class ApplicationTables:
    """The tables of one application: its accounts, and copies of Frontdesk's tables."""

    metadata: MetaData
    # The application's class of an account; None where it has none to give.
    account_model: AccountModel | None
    # The kind of its ids.
    account_ids: IdKind

    @property
    def accounts(self) -> Table | None:
        """The application's table of accounts."""
        return None if self.account_model is None else self.account_model.__table__

    def add(self, model: type[Base]) -> None:
        """Add a table that only some applications have."""
        bring_table(cast(Table, model.__table__), self.metadata, self.accounts)

    def add_all(self) -> None:
        """Add the tables that every application has."""
        bring_tables(self.metadata, self.accounts)


def bring_tables(metadata: MetaData, accounts: Table | None) -> None:
    """Add the tables that every application has, each after the tables it refers to."""
    for table in Base.metadata.sorted_tables:
        if not table.info.get(WHEN_MOUNTED):
            bring_table(table, metadata, accounts)


def bring_table(table: Table, metadata: MetaData, accounts: Table | None) -> None:
    with _our_ways(metadata):
        copy = metadata.tables.get(table.name)
        if copy is None:
            copy = table.to_metadata(metadata)
            copy.info[_OURS] = True
        elif not copy.info.get(_OURS):
            raise SetupError(
                f"The application has a table {table.name!r} of its own, and so has Frontdesk:"
                " give it another __tablename__."
            )
        if accounts is not None:
            for column in copy.columns:
                _refer(column, accounts)


def our_tables(metadata: MetaData) -> list[Table]:
    return [table for table in metadata.tables.values() if table.info.get(_OURS)]


def _refer(column: Column[object], accounts: Table) -> None:
    [key] = accounts.primary_key.columns
    if RECEIVER_KEY in column.info:
        column.type = receiver_type(id_kind_of(key.type) or INTEGER_IDS)
    if ACCOUNT_KEY not in column.info:
        return
    column.type = key.type
    ondelete = column.info[ACCOUNT_KEY]
    if ondelete is None:
        return
    for there in column.foreign_keys:
        if there.column.table is not accounts:
            raise SetupError(
                f"Frontdesk's tables refer to accounts in {there.column.table.fullname!r} already:"
                " one metadata has one account model."
            )
    if not column.foreign_keys:
        column.append_foreign_key(ForeignKey(key, ondelete=ondelete))


@contextmanager
def _our_ways(metadata: MetaData) -> Iterator[None]:
    """Our keys are named by us, whatever convention a host has: migrations drop them by name.
    And our tables are in no schema, as our statements say, though its own may all be in one."""
    theirs = metadata.naming_convention, metadata.schema
    metadata.naming_convention, metadata.schema = Base.metadata.naming_convention, None
    try:
        yield
    finally:
        metadata.naming_convention, metadata.schema = theirs
