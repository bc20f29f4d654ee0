"""Users of web frameworks: Django, Flask-Security and fastapi-users."""

from ...accounts.models import ROLES
from ..account import ImportedAccount, RowError
from .fields import flag, mapping, required, text, timestamp, words
from .rows import Fields

# The prefix of an unusable password in Django.
_UNUSABLE = "!"


def django_account(row: Fields) -> ImportedAccount:
    """Read an object of `manage.py dumpdata auth.user`, a user of any model with a password."""
    fields = mapping(row, "fields") or {}
    if "password" not in fields:
        raise RowError("not_an_account", f"A {row.get('model')!r} is not a user.")
    password_hash = text(fields, "password")
    if password_hash and password_hash.startswith(_UNUSABLE):
        password_hash = None
    names = {name: text(fields, name) for name in ("first_name", "last_name")}
    return ImportedAccount(
        email=required(fields, "email"),
        id=row.get("pk"),
        password_hash=password_hash,
        role=_role(fields),
        status="active" if flag(fields, "is_active", True) else "inactive",
        created_at=timestamp(fields, "date_joined"),
        last_login_date=timestamp(fields, "last_login"),
        profile={name: value for name, value in names.items() if value} or None,
    )


def _role(fields: Fields) -> str:
    if flag(fields, "is_superuser", False):
        return "root"
    return "admin" if flag(fields, "is_staff", False) else "user"


def flask_security_account(row: Fields) -> ImportedAccount:
    """Read a row of the table of users. Its roles are a list of names, which the query of the
    export joins.

    Passwords that were hashed twice, which is Flask-Security's default, need
    `AUTH.FOREIGN_PEPPERS`.
    """
    roles = words(row, "roles")
    confirmed = "confirmed_at" not in row or timestamp(row, "confirmed_at") is not None
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=confirmed,
        password_hash=text(row, "password"),
        role=next((role for role in ROLES if role in roles), "user"),
        roles=roles,
        status="active" if flag(row, "active", True) else "inactive",
        phone=text(row, "us_phone_number"),
        created_at=timestamp(row, "create_datetime"),
        last_login_date=timestamp(row, "current_login_at") or timestamp(row, "last_login_at"),
    )


def fastapi_users_account(row: Fields) -> ImportedAccount:
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "is_verified", False),
        password_hash=text(row, "hashed_password"),
        role="root" if flag(row, "is_superuser", False) else "user",
        status="active" if flag(row, "is_active", True) else "inactive",
        created_at=timestamp(row, "created_at"),
    )
