"""Rows of Flask-Security's table of users: JSON lines, a JSON array or CSV.

Its roles are a list of names that the query joins in. Passwords need `AUTH.FOREIGN_PEPPERS` where
they were hashed twice, as is its default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ...accounts.models import ROLES
from ..account import ImportedAccount, Row
from .fields import flag, moment, needed, text, words
from .rows import Fields, each, table


def read(stream: TextIO) -> Iterator[Row]:
    return each(table(stream), account)


def account(row: Fields) -> ImportedAccount:
    theirs = words(row, "roles")
    confirmed = "confirmed_at" not in row or moment(row, "confirmed_at") is not None
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=confirmed,
        password_hash=text(row, "password"),
        role=next((role for role in ROLES if role in theirs), "user"),
        status="active" if flag(row, "active", True) else "inactive",
        phone=text(row, "us_phone_number"),
        created_at=moment(row, "create_datetime"),
        last_login_date=moment(row, "current_login_at") or moment(row, "last_login_at"),
    )
