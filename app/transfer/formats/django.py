"""What `manage.py dumpdata auth.user` writes, as one JSON document or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ..account import ImportedAccount, Row, RowFault
from .fields import flag, mapping, moment, needed, text
from .rows import Fields, each, table

# How Django marks a password that nobody has.
_NOBODYS = "!"


def read(stream: TextIO) -> Iterator[Row]:
    return each(table(stream), account)


def account(row: Fields) -> ImportedAccount:
    """Whatever the application's model is called: a user is what has a password."""
    fields = mapping(row, "fields") or {}
    if "password" not in fields:
        raise RowFault("not_an_account", f"A {row.get('model')!r} is no user.")
    password_hash = text(fields, "password")
    if password_hash and password_hash.startswith(_NOBODYS):
        password_hash = None
    names = {name: text(fields, name) for name in ("first_name", "last_name")}
    return ImportedAccount(
        email=needed(fields, "email"),
        id=row.get("pk"),
        password_hash=password_hash,
        role=_role(fields),
        status="active" if flag(fields, "is_active", True) else "inactive",
        created_at=moment(fields, "date_joined"),
        last_login_date=moment(fields, "last_login"),
        profile={name: said for name, said in names.items() if said} or None,
    )


def _role(fields: Fields) -> str:
    if flag(fields, "is_superuser", False):
        return "root"
    return "admin" if flag(fields, "is_staff", False) else "user"
