"""Rows of fastapi-users' table of users: JSON lines, a JSON array or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ..account import ImportedAccount, Row
from .fields import flag, moment, needed, text
from .rows import Fields, each, table


def read(stream: TextIO) -> Iterator[Row]:
    return each(table(stream), account)


def account(row: Fields) -> ImportedAccount:
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "is_verified", False),
        password_hash=text(row, "hashed_password"),
        role="root" if flag(row, "is_superuser", False) else "user",
        status="active" if flag(row, "is_active", True) else "inactive",
        created_at=moment(row, "created_at"),
    )
