"""Messages and receivers as plain values, independent of the channel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ..core.types import AccountKey, Values

EMAIL = "email"


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
    """The data of an account that channels need."""

    id: AccountKey
    email: str
    phone: str | None
    # The language of the account, if the owner or a client has set one.
    locale: str | None = None


class Subject(NamedTuple):
    """What a message is about, such as `("notification", 17)`. Only the sender uses its meaning.

    A message with a subject is stored and counted until it is deleted; a message without one is
    stored until it is sent.
    """

    kind: str
    id: int


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """A new message: the same text for all receivers."""

    title: str
    message: str = field(repr=False)
    template_file: str | None = None
    # Additional values for the template.
    context: Values = field(default_factory=dict, repr=False)
    # Whether the title and the message have personal fields (personal.py).
    is_personal: bool = False
    # The URL that the message opens, as sent: a path belongs to the page host.
    url: str | None = None
    # The key of the notification's kind.
    kind: str | None = None
    # The sender's data for clients and templates.
    data: Values | None = field(default=None, repr=False)
    # When emails are sent to recipients who have not read the subject. None: at once, and to all.
    email_if_unread_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class StoredMessage(NewMessage):
    """A message from the outbox, as channels receive it."""

    id: int
    created_at: datetime
    subject: Subject | None = None
    # The values of the recipient's personal fields, for a message that has them.
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def due_from(self, channel: str) -> datetime:
        """Return when the deliveries of a channel became due for the first time."""
        delayed = self.email_if_unread_at if channel == EMAIL else None
        return delayed or self.created_at
