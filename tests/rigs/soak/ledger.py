"""What the clients of a run have seen: every response, and every write that was acknowledged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# The failed sign-ins of one account, and its requests for a reset, that the service allows.
GUESSES = 5
RESETS = 5

ALLOWED = {
    "account read": {200, 503},
    "inbox page": {200, 503},
    "registration": {201, 503},
    "account update": {200, 503},
    "sign-in": {200, 503},
    "sign-out": {200, 503},
    "task": {201, 503},
    "mark as read": {200, 503},
    "broadcast": {201, 503},
    "wrong password": {400, 429, 503},
    "password reset": {200, 429, 503},
    "revoked token": {401, 503},
}


@dataclass(frozen=True)
class Entry:
    kind: str
    status: int
    at: float
    seconds: float
    # The error code of a problem document.
    code: str = ""

    @property
    def has_failed(self) -> bool:
        return self.status not in ALLOWED[self.kind] - {503}


@dataclass(frozen=True)
class Kill:
    part: str
    at: float
    # When the part, or the one that replaced it, worked again.
    until: float


@dataclass
class Attempts:
    """The statuses of all attempts at one email address, and when the first was sent."""

    at: float
    statuses: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Broadcast:
    title: str
    receivers: frozenset[int]
    status: int


@dataclass
class Ledger:
    entries: list[Entry] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)
    # Acknowledged writes: titles, email addresses, and phone numbers by email address.
    tasks: list[str] = field(default_factory=list)
    accounts: list[str] = field(default_factory=list)
    phones: dict[str, str] = field(default_factory=dict)
    # Pairs of a notification and a recipient.
    marks: set[tuple[int, int]] = field(default_factory=set)
    revoked: list[str] = field(default_factory=list)
    # All broadcasts, acknowledged or not.
    broadcasts: list[Broadcast] = field(default_factory=list)
    # By email address.
    guesses: dict[str, Attempts] = field(default_factory=dict)
    resets: dict[str, Attempts] = field(default_factory=dict)
    # Email addresses to which an email of a registration or a reset was accepted, with the times.
    promised: list[tuple[str, float]] = field(default_factory=list)

    def statuses(self, kind: str) -> Counter[int]:
        return Counter(entry.status for entry in list(self.entries) if entry.kind == kind)

    def killed(self, *parts: str) -> list[Kill]:
        return [kill for kill in self.kills if kill.part.startswith(parts)]

    def failures(self, since: float, until: float) -> list[Entry]:
        """Return the failed requests that ended in this time."""
        return [
            entry
            for entry in list(self.entries)
            if entry.has_failed and since <= entry.at + entry.seconds < until
        ]
