"""Password hashes that other software made, so that its users keep their passwords.

`read(text)` tells by the hash's own prefix who made it, and gives a recipe that a password can be
tried against. Nothing of this is imported before the first such hash is met.
"""

from __future__ import annotations

from collections.abc import Callable

from . import firebase, notations
from .recipes import Recipe, UnusableHash

Reader = Callable[[str], Recipe]

# Who begins a hash so. What has no prefix at all is known by its whole form.
_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (("scrypt:", "pbkdf2:"), notations.read_werkzeug),
    (notations.DJANGO_PREFIXES, notations.read_django),
    (firebase.PREFIXES, firebase.read),
    (notations.PASSLIB_PREFIXES, notations.read_passlib),
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
    return notations.read_better_auth
