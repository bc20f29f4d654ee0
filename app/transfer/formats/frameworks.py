"""Users of web frameworks: Django, Flask-Security and fastapi-users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ...accounts.models import ROLES
from ..account import ImportedAccount, Row, RowFault
from .fields import flag, mapping, moment, needed, text, words
from .rows import Fields, each, table

# Django's mark of an unusable password.
_NOBODYS = "!"


def read_django(stream: TextIO) -> Iterator[Row]:
    """Read what `manage.py dumpdata auth.user` writes: one JSON document, or JSON lines."""
    return each(table(stream), django_account)


def django_account(row: Fields) -> ImportedAccount:
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


def read_flask_security(stream: TextIO) -> Iterator[Row]:
    """Read rows of the table of users: JSON lines, a JSON array or CSV.

    Roles are a list of names that the query joins in. Passwords need `AUTH.FOREIGN_PEPPERS` where
    they were hashed twice, which is Flask-Security's default.
    """
    return each(table(stream), flask_security_account)


def flask_security_account(row: Fields) -> ImportedAccount:
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


def read_fastapi_users(stream: TextIO) -> Iterator[Row]:
    """Read rows of the table of users: JSON lines, a JSON array or CSV."""
    return each(table(stream), fastapi_users_account)


def fastapi_users_account(row: Fields) -> ImportedAccount:
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "is_verified", False),
        password_hash=text(row, "hashed_password"),
        role="root" if flag(row, "is_superuser", False) else "user",
        status="active" if flag(row, "is_active", True) else "inactive",
        created_at=moment(row, "created_at"),
    )
