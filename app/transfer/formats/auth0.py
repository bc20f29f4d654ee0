"""Auth0's exports: users as JSON lines, and the password hashes that its support hands out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from ..account import ImportedAccount, ImportedIdentity, Row
from .fields import flag, mapping, moment, needed, objects, text
from .providers import identity
from .rows import Fields, each, table


def read(stream: TextIO) -> Iterator[Row]:
    return each(table(stream), account)


def account(row: Fields) -> ImportedAccount:
    address = _address(row)
    names = {"first_name": text(row, "given_name"), "last_name": text(row, "family_name")}
    return ImportedAccount(
        email=needed(address, "email"),
        id=text(row, "user_id") or _database_id(row),
        email_verified=flag(address, "email_verified", False),
        password_hash=text(row, "passwordHash") or text(row, "password_hash"),
        status="suspended" if flag(row, "blocked", False) else "active",
        phone=text(row, "phone_number"),
        created_at=moment(row, "created_at"),
        last_login_date=moment(row, "last_login"),
        identities=_identities(row),
        profile={name: said for name, said in names.items() if said} or None,
    )


def _address(row: Fields) -> Fields:
    """Some users have theirs only among the ways to name them."""
    if row.get("email"):
        return row
    for way in objects(row, "identifiers"):
        if way.get("type") == "email":
            return {"email": way.get("value"), "email_verified": way.get("verified")}
    return row


def _database_id(row: Fields) -> str | None:
    number = (mapping(row, "_id") or {}).get("$oid")
    return f"auth0|{row.get('alt_id') or number}" if number else None


def _identities(row: Fields) -> list[ImportedIdentity]:
    linked: list[Any] = objects(row, "identities")
    return [one for each in linked for one in identity(each.get("provider"), each.get("user_id"))]
