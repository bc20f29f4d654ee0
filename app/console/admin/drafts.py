"""The draft of a broadcast, which is only in the form: nothing is stored before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flask import request
from itsdangerous import BadData, URLSafeTimedSerializer

from ...core.context import current_frontdesk, service
from ...core.types import JsonObject
from ...delivery.message import Receiver
from ...delivery.outbox.enqueue import Outbox
from ...notifications.schemas import CHANNEL, INAPP

EVERYONE, CHOSEN = "everyone", "chosen"
# The maximum number of recipients that a page names.
MAX_NAMED = 50
# For more recipients, the sender enters their number before sending.
CONFIRM_ABOVE = 1000
_COUNTED_SECONDS = 3600


@dataclass(frozen=True)
class BroadcastDraft:
    title: str
    message: str
    channels: list[str]
    audience: str
    # The ids as strings, as in the form.
    ids: list[str]
    search: str

    @classmethod
    def from_form(cls) -> BroadcastDraft:
        form = request.form
        channels = dict.fromkeys([INAPP, *form.getlist("data.channels")])
        return cls(
            form.get("data.title", ""),
            form.get("data.message", "").replace("\r\n", "\n"),
            list(channels) if form else [INAPP, "email"],
            CHOSEN if form.get("audience") == CHOSEN else EVERYONE,
            list(dict.fromkeys(filter(None, form.getlist("account_receiver_ids")))),
            form.get("search", "").strip(),
        )

    @property
    def is_for_everyone(self) -> bool:
        return self.audience == EVERYONE

    @property
    def body(self) -> JsonObject:
        """The body for the API. Without selected accounts the list is empty, which it rejects."""
        data = {"title": self.title, "message": self.message, "channels": self.channels}
        return {"data": data} | ({} if self.is_for_everyone else {"account_receiver_ids": self.ids})

    @property
    def fields(self) -> Iterator[tuple[str, str]]:
        """The draft as hidden fields for the next page."""
        yield "data.title", self.title
        yield "data.message", self.message
        yield from (("data.channels", name) for name in self.channels)
        yield "audience", self.audience
        if not self.is_for_everyone:
            yield from (("account_receiver_ids", each) for each in self.ids)

    def recipients(self) -> list[Receiver]:
        """Return the first selected accounts, without deleted accounts and invalid ids."""
        ids = [*_account_ids(self.ids[:MAX_NAMED])]
        found = service(Outbox).channels.accounts.load(ids) if ids else {}
        return [found[each] for each in ids if each in found]


def _account_ids(texts: list[str]) -> Iterator[Any]:
    for text in texts:
        with suppress(ValueError):
            yield current_frontdesk.tables.account_ids.from_path(text)


def channels() -> list[tuple[str, str | None]]:
    """Return the available channels, each with the reason if it cannot send now."""
    available = service(Outbox).channels
    known = [name for name in CHANNEL.known_values() if name != INAPP]
    found = ((name, available.get(name)) for name in known)
    return [(name, channel.disabled_reason()) for name, channel in found if channel is not None]


def sign_count(count: int) -> str:
    """Sign the number of recipients that the page shows, which `signed_count` verifies."""
    return _serializer().dumps(count)


def signed_count() -> int | None:
    try:
        count: int = _serializer().loads(request.form.get("counted", ""), _COUNTED_SECONDS)
    except BadData:
        return None
    return count


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_frontdesk.settings.secret_key, salt="frontdesk.reach")
