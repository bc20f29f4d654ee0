from __future__ import annotations

from marshmallow import Schema, fields

from ..core.web.words import Word, WordSet

HEALTH = WordSet("HealthStatus", ("ok", "down"))


class HealthRead(Schema):
    status = Word(HEALTH, required=True)
    project = fields.String(required=True)


class ReadinessRead(Schema):
    status = Word(HEALTH, required=True)
    checks = fields.Dict(
        keys=fields.String(),
        values=Word(HEALTH),
        required=True,
        metadata={
            "description": "`database` and `keystore` always; `schema` only where it is down,"
            " because it is older than the code"
        },
    )
