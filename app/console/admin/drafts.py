"""The draft of a broadcast as typed in the form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from typing import NamedTuple

import orjson
from flask import request
from itsdangerous import BadData, URLSafeTimedSerializer
from markupsafe import Markup

from ...broadcasts.schemas import Broadcast
from ...core.context import current_frontdesk, service
from ...core.db.transaction import AnySession, after_rollback
from ...core.errors import Fault, Invalid
from ...core.types import JsonObject, Values
from ...core.web.request_data import load_body
from ...delivery.message import Receiver
from ...delivery.outbox.enqueue import Outbox
from ...delivery.personal import EXAMPLE, FIELDS, may_have_fields, unknown_fields
from ...notifications.kinds import ANNOUNCEMENTS, INAPP, NotificationKinds
from ...notifications.schemas import CHANNEL, NotificationCreate
from ...notifications.service import Notifications
from ..texts import _
from .audiences import MAX_NAMED, AudienceChoice, account_ids, typed_text

# For more recipients, the sender enters their number before sending.
CONFIRM_ABOVE = 1000
_COUNTED_SECONDS = 3600


@dataclass(frozen=True)
class BroadcastDraft:
    title: str
    message: str
    channels: list[str]
    audience: AudienceChoice
    search: str = ""
    # The id of the saved draft, or empty.
    draft_id: str = ""
    url: str = ""
    kind: str = ANNOUNCEMENTS

    @classmethod
    def from_form(cls) -> BroadcastDraft:
        """Read the form. Another page can send `account_receiver_ids` with the audience `chosen`,
        or a `list`, without a message: a new draft then has these recipients."""
        form = request.form
        draft_id = form.get("draft", "")
        channels = dict.fromkeys([INAPP, *form.getlist("data.channels")])
        return cls(
            typed_text("data.title"),
            typed_text("data.message"),
            list(channels) if "data.title" in form else [INAPP, "email"],
            AudienceChoice.from_form(),
            form.get("search", "").strip(),
            draft_id if draft_id.isascii() and draft_id.isdigit() and len(draft_id) < 19 else "",
            form.get("data.url", "").strip(),
            form.get("data.kind", ANNOUNCEMENTS),
        )

    @classmethod
    def from_json(cls, content: Values, draft_id: int) -> BroadcastDraft:
        audience = AudienceChoice.from_json(content["audience"])
        texts = content["title"], content["message"], content["channels"]
        url, kind = content.get("url", ""), content.get("kind", ANNOUNCEMENTS)
        return cls(*texts, audience, draft_id=str(draft_id), url=url, kind=kind)

    def to_json(self) -> JsonObject:
        return {**self.data, "audience": self.audience.to_json()}

    @property
    def data(self) -> JsonObject:
        data = {"title": self.title, "message": self.message, "channels": self.channels}
        return {**data, "kind": self.kind, **({"url": self.url} if self.url else {})}

    def load(self) -> NotificationCreate.Input:
        """Return the message as the API's route loads it, with personal fields; raise Invalid."""
        loaded: Broadcast.Input = load_body(Broadcast, {"data": self.data})
        self.check_fields()
        notifications = service(Notifications)
        kind = notifications.find_kind(self.kind, "data.")
        notifications.check_channels(kind, self.channels, "data.")
        return loaded["data"]

    def check_fields(self) -> None:
        """Raise Invalid for unknown personal fields."""
        texts = {"data.title": self.title, "data.message": self.message}
        faults = [
            Fault("", name, _field_error(unknown))
            for name, text in texts.items()
            for unknown in dict.fromkeys(unknown_fields(text))
        ]
        if faults:
            raise Invalid(faults=faults)

    @property
    def is_personal(self) -> bool:
        return may_have_fields(self.title + self.message)

    @property
    def fields(self) -> Iterator[tuple[str, str]]:
        """The draft as hidden fields for the next page."""
        yield from self.message_fields
        yield from self.audience.hidden_fields
        if self.draft_id:
            yield "draft", self.draft_id

    @property
    def message_fields(self) -> Iterator[tuple[str, str]]:
        yield "data.title", self.title
        yield "data.message", self.message
        yield "data.url", self.url
        yield "data.kind", self.kind
        yield from (("data.channels", name) for name in self.channels)

    def recipients(self) -> list[Receiver]:
        """Return the first selected accounts, without deleted accounts and invalid ids."""
        ids = [*account_ids(self.audience.ids[:MAX_NAMED])]
        found = service(Outbox).channels.accounts.load(ids) if ids else {}
        return [found[each] for each in ids if each in found]


def _field_error(name: str) -> Markup:
    if name:
        fields = ", ".join(FIELDS)
        return _("The field {name} does not exist. Fields: {fields}.", name=name, fields=fields)
    return _("Write a personal field as in {example}.", example=EXAMPLE)


def kinds() -> list[str]:
    """Return the keys of the kinds that a broadcast can have, the usual one first."""
    known = service(NotificationKinds)
    others = [key for key, kind in known.items() if not kind.excluded([INAPP])]
    return list(dict.fromkeys([ANNOUNCEMENTS, *others]))


def channels() -> list[tuple[str, str | None]]:
    """Return the available channels, each with the reason if it cannot send now."""
    available = service(Outbox).channels
    known = [name for name in CHANNEL.known_values() if name != INAPP]
    found = ((name, available.get(name)) for name in known)
    return [(name, channel.disabled_reason()) for name, channel in found if channel is not None]


class ShownCount(NamedTuple):
    """The number of recipients that a page showed."""

    receivers: int
    # Differs for each page: with it, one broadcast is sent.
    nonce: str

    def use_up(self, session: AnySession) -> bool:
        """Return whether no other request has used this count; a rollback makes it valid again."""
        key, keystore = f"broadcast-sent:{self.nonce}", current_frontdesk.keystore
        if not keystore.add(key, "1", _COUNTED_SECONDS + 60):
            return False
        after_rollback(session, lambda: keystore.drop(key))
        return True


def sign_count(count: int, audience: AudienceChoice) -> str:
    """Sign the number of recipients that the page shows, which `shown_count` verifies."""
    return _serializer().dumps([count, token_urlsafe(16), _digest(audience)])


def shown_count(audience: AudienceChoice) -> ShownCount | None:
    """Return the number that was shown for this audience, or None."""
    try:
        signed = _serializer().loads(request.form.get("counted", ""), _COUNTED_SECONDS)
        count, nonce, counted = signed
    except (BadData, TypeError, ValueError):
        # A page of an earlier version signed something else.
        return None
    return ShownCount(count, nonce) if counted == _digest(audience) else None


def _digest(audience: AudienceChoice) -> str:
    return sha256(orjson.dumps(audience.to_json(), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_frontdesk.settings.secret_key, salt="frontdesk.reach")
