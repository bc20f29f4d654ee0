"""Users of sign-in services: exports of Auth0, GoTrue (Supabase Auth) and Keycloak."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, TextIO

import orjson

from ...accounts.models import ROLES
from ...core.clock import SystemClock
from ...core.types import JsonObject
from ..account import ImportedAccount, ImportedIdentity, Row, RowFault
from .fields import flag, from_milliseconds, identity, mapping, moment, needed, objects, text, words
from .rows import Fields, documents, each, table


def read_auth0(stream: TextIO) -> Iterator[Row]:
    """Read users as JSON lines, or the password hashes that Auth0's support hands out."""
    return each(table(stream), auth0_account)


def auth0_account(row: Fields) -> ImportedAccount:
    address = _auth0_address(row)
    names = {"first_name": text(row, "given_name"), "last_name": text(row, "family_name")}
    return ImportedAccount(
        email=needed(address, "email"),
        id=text(row, "user_id") or _auth0_id(row),
        email_verified=flag(address, "email_verified", False),
        password_hash=text(row, "passwordHash") or text(row, "password_hash"),
        status="suspended" if flag(row, "blocked", False) else "active",
        phone=text(row, "phone_number"),
        created_at=moment(row, "created_at"),
        last_login_date=moment(row, "last_login"),
        identities=_auth0_identities(row),
        profile={name: said for name, said in names.items() if said} or None,
    )


def _auth0_address(row: Fields) -> Fields:
    """Some users have theirs only among the ways to name them."""
    if row.get("email"):
        return row
    for way in objects(row, "identifiers"):
        if way.get("type") == "email":
            return {"email": way.get("value"), "email_verified": way.get("verified")}
    return row


def _auth0_id(row: Fields) -> str | None:
    number = (mapping(row, "_id") or {}).get("$oid")
    return f"auth0|{row.get('alt_id') or number}" if number else None


def _auth0_identities(row: Fields) -> list[ImportedIdentity]:
    linked: list[Any] = objects(row, "identities")
    return [one for each in linked for one in identity(each.get("provider"), each.get("user_id"))]


def read_gotrue(stream: TextIO) -> Iterator[Row]:
    """Read rows of `auth.users`: JSON lines, a JSON array or CSV."""
    return each(table(stream), gotrue_account)


def gotrue_account(row: Fields) -> ImportedAccount:
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


def read_keycloak(stream: TextIO) -> Iterator[Row]:
    """Read a realm that `kc.sh export` wrote, its users with their credentials."""
    return each(documents(stream, "users"), keycloak_account)


def keycloak_account(row: Fields) -> ImportedAccount:
    if text(row, "serviceAccountClientId"):
        raise RowFault("not_an_account", "The user is a client's service account.")
    theirs = words(row, "realmRoles")
    names = {"first_name": text(row, "firstName"), "last_name": text(row, "lastName")}
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "emailVerified", False),
        password_hash=_keycloak_hash(row),
        role=next((role for role in ROLES if role in theirs), "user"),
        status="active" if flag(row, "enabled", True) else "inactive",
        created_at=from_milliseconds(row, "createdTimestamp"),
        identities=[
            one
            for each in objects(row, "federatedIdentities")
            for one in identity(each.get("identityProvider"), each.get("userId"))
        ],
        profile={name: said for name, said in names.items() if said} or None,
    )


def _keycloak_hash(row: Fields) -> str | None:
    credential = next((c for c in objects(row, "credentials") if c.get("type") == "password"), None)
    if credential is None:
        return None
    try:
        secret = orjson.loads(credential["secretData"])
        how = orjson.loads(credential["credentialData"])
        return _in_common_form(secret["value"], secret["salt"], how)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        raise RowFault("unknown_hash", "The credential is in no form that is known here.") from None


def _in_common_form(value: str, salt: str, how: JsonObject) -> str:
    """The same in the form that passlib, or Argon2 itself, has for it."""
    rounds, algorithm = int(how["hashIterations"]), how["algorithm"]
    made, salted = _unpadded(value), _unpadded(salt)
    if algorithm == "argon2":
        more = how["additionalParameters"]
        kind, memory, lanes = (more[name][0] for name in ("type", "memory", "parallelism"))
        version = {"1.3": 19, "1.0": 16}[more["version"][0]]
        return f"$argon2{kind}$v={version}$m={memory},t={rounds},p={lanes}${salted}${made}"
    digest = {
        "pbkdf2": "pbkdf2",
        "pbkdf2-sha256": "pbkdf2-sha256",
        "pbkdf2-sha512": "pbkdf2-sha512",
    }
    return f"${digest[algorithm]}${rounds}${salted}${made}".replace("+", ".")


def _unpadded(text: str) -> str:
    return b64encode(b64decode(text, validate=True)).decode().rstrip("=")
