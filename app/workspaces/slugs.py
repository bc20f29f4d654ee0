"""The names of workspaces in addresses: which are allowed, and how one is made from a name."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator

CURRENT, DEFAULT = "current", "default"
SHORTEST, LONGEST = 2, 63

# The special ones, and whatever stands (or is likely to) at the beginning of a path of ours:
# `/<workspace_slug>/...` must never mean something else.
RESERVED = frozenset(
    {CURRENT, DEFAULT}
    | {"account", "accounts", "admin", "api", "assets", "auth", "avatars", "console", "docs"}
    | {
        "authenticators",
        "email-verification",
        "reauthenticate",
        "registration",
        "session",
        "sessions",
    }
    | {"health", "idp", "invitation", "invitations", "login", "logout", "me", "members", "metrics"}
    | {"new", "notifications", "openapi", "password-recovery", "profile", "profiles"}
    | {"reset-password", "root", "settings", "static", "system", "tasks", "user", "users"}
    | {"verify-token", "workspace", "workspaces"}
)

PATTERN = rf"^[a-z0-9-]{{{SHORTEST},{LONGEST}}}$"
_SLUG = re.compile(PATTERN.strip("^$"), re.ASCII)
_ROOM_FOR_ENDING = 10


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def unfit(slug: str) -> str | None:
    """Why no workspace may have this slug, for the one who chose it."""
    if not is_slug(slug):
        return f"Use {SHORTEST} to {LONGEST} lower-case letters, digits and hyphens."
    if slug in RESERVED:
        return "This slug is reserved."
    return None


def suggestions(text: str) -> Iterator[str]:
    """Slugs for a name or the first part of an e-mail address, until one is free."""
    base = _slug_like(text)
    if unfit(base) is None:
        yield base
    for number in range(2, 10):
        yield f"{base}-{number}"
    while True:
        yield f"{base}-{secrets.token_hex(4)}"


def _slug_like(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[: LONGEST - _ROOM_FOR_ENDING].strip("-") or "team"
