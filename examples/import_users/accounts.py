"""What the scripts of this folder share: they write the JSON lines that `flask accounts import`
reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

User = dict[str, Any]

# Other providers, such as Apple, have another subject for each client: such accounts are linked
# again at the next sign-in.
GOOGLE = "https://accounts.google.com"


class Unusable(ValueError):
    """Why a user is not written."""


def write(users: Iterable[User], account: Callable[[User], User]) -> None:
    """Write a line for each user. Name the users that are not written, and then exit with 3."""
    left_out = 0
    for number, user in enumerate(users, 1):
        try:
            line = account(user)
        except Unusable as error:
            left_out += 1
            print(f"User {number} is not written: {error}", file=sys.stderr)
            continue
        print(json.dumps({name: value for name, value in line.items() if value not in (None, "")}))
    sys.exit(3 if left_out else 0)


def google(
    users: Iterable[User], provider: str, names: tuple[str, ...], subject: str
) -> list[User]:
    """Return the identities at Google, by the names of their fields."""
    return [
        {"issuer": GOOGLE, "subject": user[subject]}
        for user in users
        if user.get(provider) in names and user.get(subject)
    ]


def profile(user: User, first_name: str, last_name: str) -> User | None:
    names = {"first_name": user.get(first_name), "last_name": user.get(last_name)}
    return {name: value for name, value in names.items() if value} or None


def from_milliseconds(value: Any) -> str | None:
    return datetime.fromtimestamp(int(value) / 1000, UTC).isoformat() if value else None
