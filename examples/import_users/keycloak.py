"""Users of Keycloak, with their credentials: the realm that `kc.sh export --users same_file` wrote.

python keycloak.py realm.json > accounts.jsonl
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode

from accounts import Unusable, User, from_milliseconds, google, profile, write

# The roles of Frontdesk; a role of the realm with the same name is kept.
ROLES = ("root", "admin")
DIGESTS = ("pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512")


def account(user: User) -> User:
    realm_roles = user.get("realmRoles", [])
    return {
        "email": user.get("email"),
        "id": user.get("id"),
        "email_verified": bool(user.get("emailVerified")),
        "password_hash": password_hash(user),
        "role": next((role for role in ROLES if role in realm_roles), "user"),
        "status": "active" if user.get("enabled", True) else "inactive",
        "created_at": from_milliseconds(user.get("createdTimestamp")),
        "identities": google(
            user.get("federatedIdentities", []), "identityProvider", ("google",), "userId"
        ),
        "profile": profile(user, "firstName", "lastName"),
    }


def password_hash(user: User) -> str | None:
    for credential in user.get("credentials", []):
        if credential.get("type") == "password":
            try:
                secret = json.loads(credential["secretData"])
                parameters = json.loads(credential["credentialData"])
                return modular_crypt(secret["value"], secret["salt"], parameters)
            except (KeyError, ValueError, TypeError, IndexError, AttributeError):
                raise Unusable("the format of the credential is unknown") from None
    return None


def modular_crypt(value: str, salt: str, parameters: User) -> str:
    """Return a hash in the notation of passlib, or of Argon2 itself."""
    rounds, algorithm = int(parameters["hashIterations"]), parameters["algorithm"]
    checksum, salt = unpadded(value), unpadded(salt)
    if algorithm == "argon2":
        more = parameters["additionalParameters"]
        kind, memory, lanes = (more[name][0] for name in ("type", "memory", "parallelism"))
        version = {"1.3": 19, "1.0": 16}[more["version"][0]]
        return f"$argon2{kind}$v={version}$m={memory},t={rounds},p={lanes}${salt}${checksum}"
    if algorithm not in DIGESTS:
        raise KeyError(algorithm)
    return f"${algorithm}${rounds}${salt}${checksum}".replace("+", ".")


def unpadded(text: str) -> str:
    return b64encode(b64decode(text, validate=True)).decode().rstrip("=")


def users(realm: User) -> list[User]:
    """Return the users of a realm, without the service accounts of clients."""
    return [user for user in realm["users"] if not user.get("serviceAccountClientId")]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        write(users(json.load(file)), account)
