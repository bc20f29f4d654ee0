"""The account model of the service, and the metadata of its tables."""

from typing import Any

from sqlalchemy import Index, MetaData, text
from sqlalchemy.orm import DeclarativeBase

from ..core.db.base import NAMES
from .models import AccountMixin


class ServiceBase(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)


def _rare(name: str, condition: str, *columns: str) -> Index:
    """Return a partial index on a column that few accounts have."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


class Account(AccountMixin, ServiceBase):
    # Indexes for search and sorting by administrators.
    __table_args__: Any = (
        Index("ix_accounts_created_at", "created_at", "id"),
        # On PostgreSQL, the unique index uses a locale, which cannot serve prefix searches.
        Index("ix_accounts_email", "email", postgresql_ops={"email": 'COLLATE "C"'}),
        # Each sign-in changes this column: on PostgreSQL, that updates all indexes.
        Index("ix_accounts_last_login_date", "last_login_date", "id"),
        _rare("ix_accounts_phone", "phone IS NOT NULL", "phone"),
        _rare("ix_accounts_role", "role <> 'user'", "role", "created_at", "id"),
        _rare("ix_accounts_status", "status <> 'active'", "status", "created_at", "id"),
        _rare("ix_accounts_unverified", "email_unverified_since IS NOT NULL", "created_at", "id"),
        AccountMixin.__table_args__,
    )
