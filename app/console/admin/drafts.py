"""A broadcast while it is written: all of it is in the form, and nothing is stored before it is
sent."""

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
# So many are named on a page; the others are counted.
NAMED = 50
# To more than these, the number is typed before it is sent.
MANY = 1000
_COUNTED_SECONDS = 3600


@dataclass(frozen=True)
class DraftOfBroadcast:
    title: str
    message: str
    channels: list[str]
    audience: str
    # As the form has them.
    ids: list[str]
    search: str

    @classmethod
    def sent(cls) -> DraftOfBroadcast:
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
        """As the API takes it. Nobody chosen is an empty list, which it refuses."""
        data = {"title": self.title, "message": self.message, "channels": self.channels}
        return {"data": data} | ({} if self.is_for_everyone else {"account_receiver_ids": self.ids})

    @property
    def fields(self) -> Iterator[tuple[str, str]]:
        """To be carried on from one page to the next."""
        yield "data.title", self.title
        yield "data.message", self.message
        yield from (("data.channels", name) for name in self.channels)
        yield "audience", self.audience
        if not self.is_for_everyone:
            yield from (("account_receiver_ids", each) for each in self.ids)

    def receivers(self) -> list[Receiver]:
        """Those that are named; who is gone is not among them, nor what is no id of anybody's."""
        ids = [*_account_ids(self.ids[:NAMED])]
        found = service(Outbox).channels.accounts.load(ids) if ids else {}
        return [found[each] for each in ids if each in found]


def _account_ids(texts: list[str]) -> Iterator[Any]:
    for text in texts:
        with suppress(ValueError):
            yield current_frontdesk.tables.account_ids.from_path(text)


def channels() -> list[tuple[str, str | None]]:
    """Those that somebody handles, and why nothing can leave on one."""
    there = service(Outbox).channels
    known = [name for name in CHANNEL.known_values() if name != INAPP]
    found = ((name, there.get(name)) for name in known)
    return [(name, channel.disabled_reason()) for name, channel in found if channel is not None]


def sign_count(receivers: int) -> str:
    """What the page has told the sender, so that nobody types another number."""
    return _serializer().dumps(receivers)


def told_count() -> int | None:
    try:
        count: int = _serializer().loads(request.form.get("counted", ""), _COUNTED_SECONDS)
    except BadData:
        return None
    return count


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_frontdesk.settings.secret_key, salt="frontdesk.reach")
