"""The slugs of workspaces: which are allowed, and how one is created from a name."""

import re
import secrets
import unicodedata
from collections.abc import Iterator

from ..core.coded_messages import CodedMessage

CURRENT, DEFAULT = "current", "default"
MIN_LENGTH, MAX_LENGTH = 2, 63

# The special slugs, and first segments of Frontdesk's paths, now or in the future: the path
# `/<workspace_slug>/...` must be unambiguous.
RESERVED = frozenset(
    {CURRENT, DEFAULT}
    | {"account", "accounts", "admin", "api", "assets", "auth", "avatars", "console", "docs"}
    | {
        "authenticators",
        "banners",
        "email-verification",
        "personal-tokens",
        "reauthenticate",
        "registration",
        "scopes",
        "session",
        "sessions",
        "unsubscribe",
    }
    | {"health", "idp", "invitation", "invitations", "login", "logout", "me", "members", "metrics"}
    | {"new", "notifications", "openapi", "password-recovery", "profile", "profiles"}
    | {"reset-password", "root", "settings", "static", "system", "tasks", "user", "users"}
    | {"verify-token", "workspace", "workspaces"}
)

PATTERN = rf"^[a-z0-9-]{{{MIN_LENGTH},{MAX_LENGTH}}}$"
_SLUG = re.compile(PATTERN.strip("^$"), re.ASCII)
_SUFFIX_LENGTH = 10
NOT_A_SLUG = CodedMessage(
    f"Use {MIN_LENGTH} to {MAX_LENGTH} lower-case letters, digits and hyphens.",
    "invalid_format",
    expected="slug",
    min=MIN_LENGTH,
    max=MAX_LENGTH,
)
SLUG_RESERVED = CodedMessage("This slug is reserved.", "reserved")


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def slug_error(slug: str) -> CodedMessage | None:
    """Return why this slug is not allowed, or None."""
    if not is_slug(slug):
        return NOT_A_SLUG
    if slug in RESERVED:
        return SLUG_RESERVED
    return None


def suggest_slugs(text: str) -> Iterator[str]:
    """Yield slugs for a name or the local part of an email address, without an end."""
    base = _slugify(text)
    if slug_error(base) is None:
        yield base
    for number in range(2, 10):
        yield f"{base}-{number}"
    while True:
        yield f"{base}-{secrets.token_hex(4)}"


def _slugify(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[: MAX_LENGTH - _SUFFIX_LENGTH].strip("-") or "team"
