"""Users of sign-in services: exports of Auth0, GoTrue (Supabase Auth) and Keycloak."""

from base64 import b64decode, b64encode

import orjson

from ...accounts.models import ROLES
from ...core.clock import SystemClock
from ...core.types import JsonObject
from ..account import ImportedAccount, RowError
from .fields import (
    flag,
    from_milliseconds,
    identities,
    mapping,
    names_profile,
    objects,
    required,
    text,
    timestamp,
    words,
)
from .rows import Fields


def auth0_account(row: Fields) -> ImportedAccount:
    """Read a user, or a row of the password hashes that Auth0's support hands out."""
    address = _auth0_address(row)
    return ImportedAccount(
        email=required(address, "email"),
        id=text(row, "user_id") or _auth0_id(row),
        email_verified=flag(address, "email_verified", False),
        password_hash=text(row, "passwordHash") or text(row, "password_hash"),
        status="suspended" if flag(row, "blocked", False) else "active",
        phone=text(row, "phone_number"),
        created_at=timestamp(row, "created_at"),
        last_login_date=timestamp(row, "last_login"),
        identities=identities(row, "identities", "provider", "user_id"),
        profile=names_profile(row, "given_name", "family_name"),
    )


def _auth0_address(row: Fields) -> Fields:
    """Return the fields of the email, which some users have only among their identifiers."""
    if row.get("email"):
        return row
    for identifier in objects(row, "identifiers"):
        if identifier.get("type") == "email":
            return {"email": identifier.get("value"), "email_verified": identifier.get("verified")}
    return row


def _auth0_id(row: Fields) -> str | None:
    number = (mapping(row, "_id") or {}).get("$oid")
    return f"auth0|{row.get('alt_id') or number}" if number else None


def gotrue_account(row: Fields) -> ImportedAccount:
    """Read a row of `auth.users`."""
    if timestamp(row, "deleted_at") is not None:
        raise RowError("not_an_account", "The user was deleted.")
    banned = timestamp(row, "banned_until")
    confirmed = timestamp(row, "email_confirmed_at") or timestamp(row, "confirmed_at")
    phone = text(row, "phone")
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=confirmed is not None,
        # Empty for users without a password.
        password_hash=text(row, "encrypted_password"),
        role="user",
        status="suspended" if banned and banned > SystemClock().now() else "active",
        # GoTrue stores phone numbers without the plus sign.
        phone=f"+{phone}" if phone and not phone.startswith("+") else phone,
        created_at=timestamp(row, "created_at"),
        last_login_date=timestamp(row, "last_sign_in_at"),
        # Only if the query joined `auth.identities`.
        identities=identities(row, "identities", "provider", "provider_id"),
    )


def keycloak_account(row: Fields) -> ImportedAccount:
    """Read a user with credentials of a realm that `kc.sh export` wrote."""
    if text(row, "serviceAccountClientId"):
        raise RowError("not_an_account", "The user is a client's service account.")
    realm_roles = words(row, "realmRoles")
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "emailVerified", False),
        password_hash=_keycloak_hash(row),
        role=next((role for role in ROLES if role in realm_roles), "user"),
        status="active" if flag(row, "enabled", True) else "inactive",
        created_at=from_milliseconds(row, "createdTimestamp"),
        identities=identities(row, "federatedIdentities", "identityProvider", "userId"),
        profile=names_profile(row, "firstName", "lastName"),
    )


def _keycloak_hash(row: Fields) -> str | None:
    credential = next((c for c in objects(row, "credentials") if c.get("type") == "password"), None)
    if credential is None:
        return None
    try:
        secret = orjson.loads(credential["secretData"])
        parameters = orjson.loads(credential["credentialData"])
        return _modular_crypt(secret["value"], secret["salt"], parameters)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        raise RowError("unknown_hash", "The format of the credential is unknown.") from None


def _modular_crypt(value: str, salt: str, parameters: JsonObject) -> str:
    """Return a hash in the notation of passlib, or of Argon2 itself."""
    rounds, algorithm = int(parameters["hashIterations"]), parameters["algorithm"]
    checksum, salt = _unpadded(value), _unpadded(salt)
    if algorithm == "argon2":
        more = parameters["additionalParameters"]
        kind, memory, lanes = (more[name][0] for name in ("type", "memory", "parallelism"))
        version = {"1.3": 19, "1.0": 16}[more["version"][0]]
        return f"$argon2{kind}$v={version}$m={memory},t={rounds},p={lanes}${salt}${checksum}"
    digest = {
        "pbkdf2": "pbkdf2",
        "pbkdf2-sha256": "pbkdf2-sha256",
        "pbkdf2-sha512": "pbkdf2-sha512",
    }
    return f"${digest[algorithm]}${rounds}${salt}${checksum}".replace("+", ".")


def _unpadded(text: str) -> str:
    return b64encode(b64decode(text, validate=True)).decode().rstrip("=")
