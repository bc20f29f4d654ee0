"""Password hashes from other software, so that imported users keep their passwords.

`read_hash(text)` recognizes the software by the prefix of the hash and returns the algorithm that
checks passwords against it. Nothing of this is imported before the first such hash.
"""

from collections.abc import Callable

from . import firebase, formats
from .algorithms import HashAlgorithm, UnusableHash

Reader = Callable[[str], HashAlgorithm]

# The software of each prefix. A hash without a prefix is recognized by its form.
_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (("scrypt:", "pbkdf2:"), formats.read_werkzeug),
    (formats.DJANGO_PREFIXES, formats.read_django),
    (firebase.PREFIXES, firebase.read_firebase),
    (formats.PASSLIB_PREFIXES, formats.read_passlib),
)

__all__ = ["HashAlgorithm", "UnusableHash", "read"]


def read_hash(text: str) -> HashAlgorithm:
    """Return the algorithm of the hash; raise UnusableHash if it cannot or must not be checked."""
    try:
        algorithm = _reader(text)(text)
    except (ValueError, LookupError):
        # A known but malformed hash.
        raise UnusableHash.unknown() from None
    algorithm.check()
    return algorithm


def _reader(text: str) -> Reader:
    for prefixes, reader in _READERS:
        if text.startswith(prefixes):
            return reader
    return formats.read_better_auth
