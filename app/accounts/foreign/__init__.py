"""Password hashes that other software made, so that its users keep their passwords.

`read(text)` tells by the hash's own prefix who made it, and gives a recipe that a password can be
tried against. Nothing of this is imported before the first such hash is met.
"""

from __future__ import annotations

from collections.abc import Callable

from . import better_auth, django, firebase, passlib, werkzeug
from .errors import UnusableHash
from .recipes import Recipe

Reader = Callable[[str], Recipe]

# Who begins a hash so. What has no prefix at all is known by its whole form.
_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (("scrypt:", "pbkdf2:"), werkzeug.read),
    (django.PREFIXES, django.read),
    (firebase.PREFIXES, firebase.read),
    (passlib.PREFIXES, passlib.read),
)

__all__ = ["Recipe", "UnusableHash", "read"]


def read(text: str) -> Recipe:
    """How to try a password against this hash; raises where it must not, or cannot, be tried."""
    try:
        recipe = _reader(text)(text)
    except (ValueError, LookupError):
        # Of a kind that is known, and broken.
        raise UnusableHash.unknown() from None
    recipe.check()
    return recipe


def _reader(text: str) -> Reader:
    for prefixes, reader in _READERS:
        if text.startswith(prefixes):
            return reader
    return better_auth.read
