"""What is sent and to whom, as values that know nothing of how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Email:
    to: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)


@dataclass(frozen=True)
class Sms:
    to: str
    text: str = field(repr=False)


class Receiver(NamedTuple):
    """An account, as far as a channel needs it."""

    id: Any
    email: str
    phone: str | None


class Subject(NamedTuple):
    """What a message is about, such as `("notification", 17)`: only its owner knows what that is.

    A message with a subject is kept until it is forgotten, and counted meanwhile; one without is
    kept for as long as it has to be sent.
    """

    kind: str
    id: int


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """What is to be said, the same to all receivers."""

    title: str
    message: str = field(repr=False)
    template_file: str | None = None
    # Further values for the template.
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class StoredMessage(NewMessage):
    """As it comes out of the outbox, and as a channel is given it."""

    id: int
    created_at: datetime
