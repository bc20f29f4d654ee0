from __future__ import annotations

from marshmallow import Schema, fields

from ...core.web.fields import Received, Text
from .codes import ID_LENGTH


class AskForCode(Received):
    email = Text(min=1, max=320, required=True)


class CodeAskedFor(Schema):
    login_id = fields.String(
        required=True,
        metadata={"description": "For whoever asked alone: the code counts only together with it"},
    )


class MailedCode(Received):
    login_id = Text(
        min=1, blank=True, max=ID_LENGTH, required=True, metadata={"description": "Of the answer"}
    )
    code = Text(min=1, blank=True, max=64, required=True, metadata={"description": "Of the mail"})
