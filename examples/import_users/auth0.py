"""Users of Auth0: the user export as JSON lines, or the file of password hashes from its support.

python auth0.py users.jsonl > accounts.jsonl
"""

from __future__ import annotations

import json
import sys

from accounts import User, google, profile, write


def account(user: User) -> User:
    address = email(user)
    return {
        "email": address.get("email"),
        "id": user.get("user_id") or identifier(user),
        "email_verified": bool(address.get("email_verified")),
        "password_hash": user.get("passwordHash") or user.get("password_hash"),
        "status": "suspended" if user.get("blocked") else "active",
        "phone": user.get("phone_number"),
        "created_at": user.get("created_at"),
        "last_login_date": user.get("last_login"),
        "identities": google(user.get("identities", []), "provider", ("google-oauth2",), "user_id"),
        "profile": profile(user, "given_name", "family_name"),
    }


def email(user: User) -> User:
    """Return the fields of the email, which some users have only among their identifiers."""
    if user.get("email"):
        return user
    for each in user.get("identifiers", []):
        if each.get("type") == "email":
            return {"email": each.get("value"), "email_verified": each.get("verified")}
    return {}


def identifier(user: User) -> str | None:
    number = user.get("alt_id") or user.get("_id", {}).get("$oid")
    return f"auth0|{number}" if number else None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        write((json.loads(line) for line in file if line.strip()), account)
