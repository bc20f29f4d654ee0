"""The users of a realm that Keycloak exported (`kc.sh export`), each with its credentials."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, TextIO

import orjson

from ...accounts.models import ROLES
from ..account import ImportedAccount, Row, RowFault
from .fields import flag, from_milliseconds, needed, objects, text, words
from .providers import identity
from .rows import Fields, documents, each


def read(stream: TextIO) -> Iterator[Row]:
    return each(documents(stream, "users"), account)


def account(row: Fields) -> ImportedAccount:
    if text(row, "serviceAccountClientId"):
        raise RowFault("not_an_account", "The user is a client's service account.")
    theirs = words(row, "realmRoles")
    names = {"first_name": text(row, "firstName"), "last_name": text(row, "lastName")}
    return ImportedAccount(
        email=needed(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "emailVerified", False),
        password_hash=_password_hash(row),
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


def _password_hash(row: Fields) -> str | None:
    credential = next((c for c in objects(row, "credentials") if c.get("type") == "password"), None)
    if credential is None:
        return None
    try:
        secret = orjson.loads(credential["secretData"])
        how = orjson.loads(credential["credentialData"])
        return _in_common_form(secret["value"], secret["salt"], how)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        raise RowFault("unknown_hash", "The credential is in no form that is known here.") from None


def _in_common_form(value: str, salt: str, how: dict[str, Any]) -> str:
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
