"""Users of Firebase: the file of `firebase auth:export users.json`, and a file with the password
hash parameters that the project's console shows.

    python firebase.py users.json hash_config.txt > accounts.jsonl
"""

from __future__ import annotations

import json
import re
import sys
from functools import partial

from accounts import User, from_milliseconds, google, write

# Parameters as the console shows them, `base64_signer_key: …,`, or as JSON.
PARAMETER = re.compile(r'"?(\w+)"?\s*:\s*"?([^\s,"{}]+)', re.ASCII)
REQUIRED = {"base64_signer_key", "base64_salt_separator", "rounds", "mem_cost"}


def hash_config(text: str) -> dict[str, str]:
    config = dict(PARAMETER.findall(text))
    if missing := sorted(REQUIRED - config.keys()):
        sys.exit(f"Missing hash parameters: {', '.join(missing)}.")
    if not (config["rounds"].isdecimal() and config["mem_cost"].isdecimal()):
        sys.exit("The hash parameters rounds and mem_cost are integers.")
    return config


def account(user: User, config: dict[str, str]) -> User:
    return {
        "email": user.get("email"),
        "id": user.get("localId"),
        "email_verified": bool(user.get("emailVerified")),
        "password_hash": password_hash(user, config),
        "status": "suspended" if user.get("disabled") else "active",
        "phone": user.get("phoneNumber"),
        "created_at": from_milliseconds(user.get("createdAt")),
        "last_login_date": from_milliseconds(user.get("lastSignedInAt")),
        "identities": google(
            user.get("providerUserInfo", []), "providerId", ("google.com",), "rawId"
        ),
    }


def password_hash(user: User, config: dict[str, str]) -> str | None:
    """Return the hash with the parameters of the project, in the notation of GoTrue."""
    if not user.get("passwordHash"):
        return None
    options = (
        f"v=1,n={config['mem_cost']},r={config['rounds']},p=1"
        f",ss={config['base64_salt_separator']},sk={config['base64_signer_key']}"
    )
    salt, checksum = user.get("salt", ""), user["passwordHash"]
    return "$".join(["", "fbscrypt", options, standard(salt), standard(checksum)])


def standard(text: str) -> str:
    """Return base64 with the standard alphabet."""
    return text.replace("-", "+").replace("_", "/")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as users, open(sys.argv[2], encoding="utf-8") as file:
        write(json.load(users)["users"], partial(account, config=hash_config(file.read())))
