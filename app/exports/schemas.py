from __future__ import annotations

from marshmallow import Schema, fields

from ..auth.schemas import GivenPassword
from ..core.web.fields import Moment, Received
from ..core.web.words import Word, WordSet
from .models import STATES

EXPORT_STATE = WordSet("ExportState", STATES)


class ExportCreate(Received):
    password = GivenPassword(
        max=1024,
        load_default=None,
        metadata={
            "format": "password",
            "description": "Needed where the sign-in is older than 15 minutes",
        },
    )


class ExportRead(Schema):
    id = fields.Integer(required=True)
    state = Word(EXPORT_STATE, required=True)
    size = fields.Integer(
        required=True, allow_none=True, metadata={"description": "In bytes, once it is ready"}
    )
    created_at = Moment(required=True)
    expires_at = Moment(
        required=True, allow_none=True, metadata={"description": "Until then it can be fetched"}
    )
