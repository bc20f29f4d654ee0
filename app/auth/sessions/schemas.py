from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from ...core.web.fields import Flag, Moment, Received, Text
from ...core.web.words import Word, WordSet
from .models import COOKIE, TOKEN

KIND = WordSet("SessionKind", (TOKEN, COOKIE))


class SessionRead(Schema):
    id = fields.String(required=True, metadata={"description": "The `sid` of its tokens"})
    current = fields.Boolean(
        required=True, metadata={"description": "Whether it is the one that asks"}
    )
    kind = Word(KIND, required=True)
    created_at = Moment(required=True)
    used_at = Moment(required=True, metadata={"description": "To the hour"})
    expires_at = Moment(required=True, metadata={"description": "Its end at the latest"})
    ip = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "As much of the address as is kept, such as its network"},
    )
    user_agent = fields.String(required=True, allow_none=True)
    label = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "What the device says that it is, such as Firefox on Linux"},
    )
    amr = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What was shown at the sign-in, in the words of RFC 8176"},
    )


class EndSessions(Received):
    others = Flag(load_default=False, metadata={"description": "true: all but the one that asks"})


class EndedSessions(Schema):
    ended = fields.Integer(required=True, metadata={"description": "How many"})


class GivenToken(Text):
    """Whatever a client sends: what we have not made is a wrong one, however it looks."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        return str(value)

    def _validate(self, value: Any) -> None:
        return None


class Grant(Received):
    grant_type = Text(min=1, max=64, required=True, metadata={"description": "`refresh_token`"})
    refresh_token = GivenToken(max=1024, required=True, metadata={"format": "password"})
