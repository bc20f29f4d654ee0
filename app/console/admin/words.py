"""What the words of accounts are called on a page."""

from __future__ import annotations

from collections.abc import Iterable

from ..texts import _, later

_STATUSES = {
    "active": later("Active"),
    "online": later("Online"),
    "inactive": later("Inactive"),
    "suspended": later("Suspended"),
    "pending": later("Unproven"),
    "deleting": later("To be deleted"),
}
_ROLES = {"root": later("Root"), "admin": later("Admin"), "user": later("User")}


def statuses(words: Iterable[str]) -> list[tuple[str, str]]:
    """A host may have others beside ours, and those are called what they are."""
    return [(word, _(_STATUSES.get(word, word))) for word in words]


def roles(words: Iterable[str]) -> list[tuple[str, str]]:
    return [(word, _(_ROLES.get(word, word))) for word in words]
