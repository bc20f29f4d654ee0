"""The application's table of accounts, for Frontdesk's migrations: with any name and type of id.

The application owns the table. Frontdesk's migrations create it only if it is missing and the model
is like Frontdesk's own, and add a column only if the model has it and the database does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Integer, Table, inspect

from .account_ids import INTEGER_IDS, Id, id_kind_of, receiver_type


@dataclass(frozen=True)
class AccountsTable:
    name: str = "accounts"
    schema: str | None = None
    key: str = "id"
    type: Any = Id
    # The columns of the application's model; None without an account model.
    columns: frozenset[str] | None = None

    @classmethod
    def of(cls, table: Table | None) -> AccountsTable:
        if table is None:
            return cls()
        [key] = table.primary_key.columns
        columns = frozenset(column.name for column in table.columns)
        return cls(table.name, table.schema, key.name, key.type, columns)

    @property
    def id(self) -> str:
        """The target of foreign keys."""
        return ".".join(filter(None, (self.schema, self.name, self.key)))

    @property
    def receiver_type(self) -> object:
        """The column type of recipients' ids in deliveries."""
        return receiver_type(id_kind_of(self.type) or INTEGER_IDS)

    @property
    def is_as_ours(self) -> bool:
        return self.id == "accounts.id" and isinstance(self.type, Integer)

    def is_in(self, connection: Connection) -> bool:
        return inspect(connection).has_table(self.name, schema=self.schema)

    def add_column(self, column: Column[Any]) -> None:
        from alembic import op

        if self._expects(column.name) and column.name not in self._present():
            op.add_column(self.name, column, schema=self.schema)

    def drop_column(self, name: str) -> None:
        from alembic import op

        # In place on SQLite too, because Alembic's batch mode would copy the whole table.
        if self._expects(name):
            op.drop_column(self.name, name, schema=self.schema)

    def _expects(self, name: str) -> bool:
        return self.columns is None or name in self.columns

    def _present(self) -> set[str]:
        from alembic import context, op

        if context.is_offline_mode():
            return set()
        columns = inspect(op.get_bind()).get_columns(self.name, schema=self.schema)
        return {column["name"] for column in columns}
