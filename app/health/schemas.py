from __future__ import annotations

from marshmallow import Schema, fields


class HealthRead(Schema):
    status = fields.String(required=True)
    project = fields.String(required=True)


class ReadinessRead(Schema):
    status = fields.String(required=True)
    checks = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "`ok` or `down` for each thing that the service needs."},
    )
