"""Rows of GoTrue's (Supabase Auth's) `auth.users`: JSON lines, a JSON array or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ...core.clock import SystemClock
from ..account import ImportedAccount, Row, RowFault
from .fields import moment, needed, objects, text
from .providers import identity
from .rows import Fields, each, table


def read(stream: TextIO) -> Iterator[Row]:
    return each(table(stream), account)


def account(row: Fields) -> ImportedAccount:
    if moment(row, "deleted_at") is not None:
        raise RowFault("not_an_account", "The user was deleted.")
    banned = moment(row, "banned_until")
    confirmed = moment(row, "email_confirmed_at") or moment(row, "confirmed_at")
    phone = text(row, "phone")
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=confirmed is not None,
        # Without a password there is an empty one.
        password_hash=text(row, "encrypted_password"),
        role="user",
        status="suspended" if banned and banned > SystemClock().now() else "active",
        # It keeps them without the plus sign.
        phone=f"+{phone}" if phone and not phone.startswith("+") else phone,
        created_at=moment(row, "created_at"),
        last_login_date=moment(row, "last_sign_in_at"),
        # From `auth.identities`, where the query joined it in.
        identities=[
            one
            for each in objects(row, "identities")
            for one in identity(each.get("provider"), each.get("provider_id"))
        ],
    )
