from __future__ import annotations

from marshmallow import Schema, fields

from ..core.http.fields import Moment


class AccountRead(Schema):
    id = fields.Integer(required=True)
    email = fields.String(required=True)
    status = fields.String(required=True)
    role = fields.String(required=True)
    phone = fields.String(required=True, allow_none=True)
    last_login_date = Moment(required=True, allow_none=True)
    current_workspace_id = fields.Integer(required=True, allow_none=True)
    created_at = Moment(required=True)
