"""Frontdesk's tables in an application's metadata.

Frontdesk's models are mapped once, in a separate registry and metadata. `db.create_all()` and
`flask db migrate` look at the application's metadata, so it gets a copy of each table, in which
columns that refer to accounts have the type and the foreign key of the application's accounts.
Statements are built from the models and find the tables by name.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from sqlalchemy import Column, ForeignKey, MetaData, Table

from ..errors import SetupError
from ..types import AccountModel
from .account_ids import INTEGER_IDS, IdKind, id_kind_of, receiver_type
from .base import ACCOUNT_KEY, RECEIVER_KEY, Base

# Marks a table that an application has only if it mounts the blueprint.
WHEN_MOUNTED = "frontdesk_when_mounted"

_IS_OURS = "frontdesk"


@dataclass(frozen=True)
class ApplicationTables:
    """The tables of one application: its accounts, and copies of Frontdesk's tables."""

    application_metadata: MetaData
    # The application's account class; None if it has no accounts.
    account_model: AccountModel | None
    account_ids: IdKind
    # The service's tables are created by migrations, so the copies are needed by these alone.
    is_service: bool
    # Imports the models of all features, of which a process maps those that it uses.
    import_models: Callable[[], None]

    @cached_property
    def metadata(self) -> MetaData:
        """The metadata with the copies of all tables, which are created at first use."""
        self.import_models()
        if self.is_service:
            _copy_tables(Base.metadata.sorted_tables, self.application_metadata, self.accounts)
        self.add_all()
        return self.application_metadata

    @property
    def accounts(self) -> Table | None:
        return None if self.account_model is None else self.account_model.__table__

    def add(self, model: type[Base]) -> None:
        """Add a table that only some applications have."""
        if not self.is_service:
            table = cast(Table, model.__table__)
            _copy_tables([table], self.application_metadata, self.accounts)

    def add_all(self) -> None:
        """Add the tables that every application has, of the features that are imported."""
        if not self.is_service:
            tables = [each for each in Base.metadata.sorted_tables if WHEN_MOUNTED not in each.info]
            _copy_tables(tables, self.application_metadata, self.accounts)


def _copy_tables(tables: Iterable[Table], metadata: MetaData, accounts: Table | None) -> None:
    with _our_names(metadata):
        for table in tables:
            copy = metadata.tables.get(table.name)
            if copy is None:
                copy = table.to_metadata(metadata)
                copy.info[_IS_OURS] = True
            elif not copy.info.get(_IS_OURS):
                raise SetupError(
                    f"The application and Frontdesk both have a table {table.name!r}:"
                    " give the application's table another __tablename__."
                )
            if accounts is not None:
                for column in copy.columns:
                    _refer(column, accounts)


def our_tables(metadata: MetaData) -> list[Table]:
    return [table for table in metadata.tables.values() if table.info.get(_IS_OURS)]


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
    # A key of several columns does not refer to the accounts.
    own = [
        each
        for each in column.foreign_keys
        if each.constraint is None or len(each.constraint.elements) == 1
    ]
    for foreign_key in own:
        if foreign_key.column.table is not accounts:
            raise SetupError(
                "Frontdesk's tables refer to accounts in"
                f" {foreign_key.column.table.fullname!r} already: one metadata has one account"
                " model."
            )
    if not own:
        column.append_foreign_key(ForeignKey(key, ondelete=ondelete))


@contextmanager
def _our_names(metadata: MetaData) -> Iterator[None]:
    """Use Frontdesk's naming convention, because migrations drop keys by name, and no schema."""
    before = metadata.naming_convention, metadata.schema
    metadata.naming_convention, metadata.schema = Base.metadata.naming_convention, None
    try:
        yield
    finally:
        metadata.naming_convention, metadata.schema = before
