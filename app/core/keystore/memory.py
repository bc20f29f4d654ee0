"""The state store of a single process."""

import math
from collections.abc import Sequence
from threading import Lock

from ..clock import Clock
from ..request import note_effect

# Expired entries are deleted after this many writes, so that memory stays bounded.
PRUNE_EVERY = 1000


class MemoryKeystore:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._entries: dict[str, tuple[str, float]] = {}
        self._writes = 0

    def get(self, key: str) -> str | None:
        # Reading one dict entry is atomic: the hot path takes no lock.
        entry = self._entries.get(key)
        return entry[0] if entry and entry[1] > self._now() else None

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return [self.get(key) for key in keys]

    def put(self, key: str, value: str, seconds: int) -> None:
        with self._lock:
            self._put(key, value, self._now() + seconds)

    def drop(self, *keys: str) -> None:
        with self._lock:
            for key in keys:
                self._entries.pop(key, None)

    def take(self, key: str) -> str | None:
        note_effect()
        with self._lock:
            value = self.get(key)
            self._entries.pop(key, None)
            return value

    def add(self, key: str, value: str, seconds: int) -> bool:
        note_effect()
        with self._lock:
            if self.get(key) is not None:
                return False
            self._put(key, value, self._now() + seconds)
            return True

    def count(self, key: str, seconds: int, by: int = 1) -> int:
        with self._lock:
            now = self._now()
            value, until = self._entries.get(key, ("0", 0.0))
            total, until = (int(value) + by, until) if until > now else (by, now + seconds)
            self._put(key, str(total), until)
            return total

    def remaining(self, key: str) -> int:
        entry = self._entries.get(key)
        return max(0, math.ceil(entry[1] - self._now())) if entry else 0

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _put(self, key: str, value: str, until: float) -> None:
        self._writes += 1
        if self._writes % PRUNE_EVERY == 0:
            now = self._now()
            for old in [old for old, (_, end) in self._entries.items() if end <= now]:
                del self._entries[old]
        self._entries[key] = (value, until)
