from __future__ import annotations

from marshmallow import ValidationError, fields, validates_schema

from ...core.types import Loaded
from ...core.web.fields import RequestSchema, Text
from ..schemas import PasswordField

# The body has exactly one of these methods.
WAYS = ("password", "otp", "recovery_code", "credential", "code")


class Reauthenticate(RequestSchema):
    class Meta(RequestSchema.Meta):
        json_schema = {"oneOf": [{"required": [way]} for way in WAYS]}

    password = PasswordField(max=1024, metadata={"format": "password"})
    otp = Text(min=1, blank=True, max=64, metadata={"description": "A code of an app"})
    recovery_code = Text(min=1, blank=True, max=64)
    credential = fields.Dict(
        keys=fields.String(),
        metadata={"description": "A passkey's, for `POST /reauthenticate/passkey/options`"},
    )
    code = Text(min=1, blank=True, max=64, metadata={"description": "One that was mailed"})
    login_id = Text(
        min=1,
        blank=True,
        max=64,
        load_default=None,
        metadata={"description": "Required with a mailed code: of `POST /login/code`"},
    )

    @validates_schema
    def require_one_way(self, data: Loaded, **kwargs: object) -> None:
        given = [way for way in WAYS if way in data]
        if len(given) != 1:
            raise ValidationError(f"Exactly one of {', '.join(WAYS)} must be given.")
        if "code" in data and data.get("login_id") is None:
            raise ValidationError("Missing data for required field.", "login_id")
