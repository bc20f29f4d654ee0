"""The interface of state stores."""

from collections.abc import Sequence
from typing import Protocol

from ..errors import Unavailable


class KeystoreUnavailable(Unavailable):
    code = "keystore_unavailable"
    detail = "The shared state store is unavailable"
    title = "The shared state store is unavailable"
    cause = (
        "The shared state store (Redis or the database), which holds counters and codes, is"
        " unreachable."
    )
    fix = (
        "Wait for the number of seconds in `Retry-After`, then send the request again."
        " Operators check `CORE__KEYSTORE` and the Redis server."
    )


class Keystore(Protocol):
    def get(self, key: str) -> str | None: ...

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """Return the values in the order of the keys, with one query."""

    def put(self, key: str, value: str, seconds: int) -> None: ...

    def drop(self, *keys: str) -> None: ...

    def take(self, key: str) -> str | None:
        """Get and delete in one step: of two callers, one receives the value."""

    def add(self, key: str, value: str, seconds: int) -> bool:
        """Put if absent: of two simultaneous callers, one gets True."""

    def count(self, key: str, seconds: int, by: int = 1) -> int:
        """Add to a counter, which expires `seconds` after its first count."""

    def remaining(self, key: str) -> int:
        """Return the seconds until the entry expires, 0 for a missing entry."""


# Two keys, because a node of a Redis Cluster rejects calls with several keys.
_PROBES = ("frontdesk-probe:1", "frontdesk-probe:2")
_PROBE_SECONDS = 10


def check_keystore_writes(keystore: Keystore) -> None:
    """Raise KeystoreUnavailable unless the store accepts writes: a full Redis only reads."""
    # A store of several servers returns keys that cover all of them.
    find_keys = getattr(keystore, "probe_keys", None)
    written = find_keys() if find_keys else _PROBES[:1]
    for key in written:
        keystore.put(key, "1", _PROBE_SECONDS)
    keystore.get_many(written if find_keys else _PROBES)
