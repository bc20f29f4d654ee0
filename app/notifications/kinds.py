"""The kinds of notifications: what a notification is about, and the channels that it can have."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..delivery.message import EMAIL

INAPP = "inapp"
# The kind of a notification of an admin who names none, and of emails about sign-in and security.
ANNOUNCEMENTS, ACCOUNT = "announcements", "account"
MAX_MINUTES = 1_440

_KEY = re.compile("[a-z][a-z0-9-]{0,49}", re.ASCII)


@dataclass(frozen=True)
class NotificationKind:
    key: str
    name: str
    description: str = ""
    # The channels that a notification can have, and has if its sender names none. None: all.
    channels: Sequence[str] | None = (INAPP, EMAIL)
    # Whether accounts cannot turn the notifications off.
    mandatory: bool = False
    # The minutes after which an email is sent to an account that has not read the notification.
    email_if_unread: int | None = None

    @classmethod
    def declare(cls, key: str, **values: Any) -> NotificationKind:
        """Return the kind of an application's code or settings. Raises ValueError."""
        try:
            kind = cls(key, **values)
        except TypeError as error:
            raise ValueError(f"the kind {key!r}: {error}") from None
        if problem := _problem(kind):
            raise ValueError(f"the kind {key!r} {problem}")
        return cls(key, **{**values, "channels": tuple(kind.channels or ())})

    def excluded(self, channels: Iterable[str]) -> list[str]:
        """Return the channels that no notification of this kind can have."""
        return [] if self.channels is None else sorted(set(channels) - set(self.channels))


BUILT_IN = {
    each.key: each
    for each in (
        NotificationKind(ANNOUNCEMENTS, "Announcements", "News and maintenance.", channels=None),
        NotificationKind(
            ACCOUNT, "Account", "Sign-in, recovery and security.", (EMAIL,), mandatory=True
        ),
    )
}


class NotificationKinds(ChainMap[str, NotificationKind]):
    """The kinds of one application by key: built in, declared in its code, and of its settings.

    The code can declare kinds later too.
    """

    def is_mandatory(self, key: str) -> bool:
        """Return whether accounts cannot turn the kind off: they can if it is not declared."""
        kind = self.get(key)
        return kind is not None and kind.mandatory


def read_kinds(given: object) -> dict[str, NotificationKind]:
    """Return the kinds of a setting, a mapping by key. Raises ValueError."""
    if not isinstance(given, Mapping):
        raise ValueError("must be a mapping of kinds by key")
    return {key: _read_kind(key, values) for key, values in given.items()}


def _read_kind(key: str, values: object) -> NotificationKind:
    if isinstance(values, NotificationKind):
        return values
    if not isinstance(values, Mapping):
        raise ValueError(f"the kind {key!r} must be a mapping")
    return NotificationKind.declare(key, **values)


def _problem(kind: NotificationKind) -> str | None:
    """Return why a kind cannot be declared."""
    channels: object = kind.channels
    minutes = kind.email_if_unread
    if not isinstance(kind.key, str) or not _KEY.fullmatch(kind.key):
        return "needs a key such as note-pinned: small letters, digits and hyphens"
    if kind.key in BUILT_IN:
        return "is built in"
    if not (isinstance(kind.name, str) and kind.name.strip()):
        return "needs a name"
    if not isinstance(kind.description, str):
        return "needs a text as its description"
    if not isinstance(channels, (list, tuple)) or not all(isinstance(x, str) for x in channels):
        return 'needs a list of channels, such as ["inapp", "email"]'
    if not channels:
        return "needs a channel"
    if not isinstance(kind.mandatory, bool):
        return "needs true or false for mandatory"
    return None if minutes is None else delay_problem(minutes, channels)


def delay_problem(minutes: object, channels: Iterable[str]) -> str | None:
    """Return why emails cannot wait for so many minutes until a notification is read."""
    is_number = isinstance(minutes, int) and not isinstance(minutes, bool)
    if not is_number or minutes not in range(1, MAX_MINUTES + 1):
        return f"needs 1 to {MAX_MINUTES} minutes for email_if_unread"
    if not {INAPP, EMAIL} <= set(channels):
        return "needs the channels inapp and email for email_if_unread"
    return None
