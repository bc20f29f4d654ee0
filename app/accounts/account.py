"""The service's own account, and the metadata that all of its tables are in."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, MetaData, text
from sqlalchemy.orm import DeclarativeBase

from ..core.db.base import NAMES
from .models import AccountMixin


class ServiceBase(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)


def _rare(name: str, condition: str, *columns: str) -> Index:
    """Of what hardly any account has: it costs the others nothing."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


class Account(AccountMixin, ServiceBase):
    # What administrators search and sort by.
    __table_args__: Any = (
        Index("ix_accounts_created_at", "created_at", "id"),
        # PostgreSQL has the unique one in the order of a language, where a prefix is no range.
        Index("ix_accounts_email", "email", postgresql_ops={"email": 'COLLATE "C"'}),
        # A sign-in writes to it, and by that, on PostgreSQL, to all of them.
        Index("ix_accounts_last_login_date", "last_login_date", "id"),
        _rare("ix_accounts_phone", "phone IS NOT NULL", "phone"),
        _rare("ix_accounts_role", "role <> 'user'", "role", "created_at", "id"),
        _rare("ix_accounts_status", "status <> 'active'", "status", "created_at", "id"),
        _rare("ix_accounts_unverified", "email_unverified_since IS NOT NULL", "created_at", "id"),
        AccountMixin.__table_args__,
    )
