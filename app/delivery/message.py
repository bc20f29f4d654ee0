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
    id: int
    email: str
    phone: str | None


@dataclass(frozen=True)
class Message:
    """What a broadcast says, the same for all its receivers."""

    id: int
    title: str
    message: str = field(repr=False)
    created_at: datetime
    template_file: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
