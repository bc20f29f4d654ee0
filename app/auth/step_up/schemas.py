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

    password = PasswordField(
        max=1024, metadata={"description": "Password of the account.", "format": "password"}
    )
    otp = Text(min=1, blank=True, max=64, metadata={"description": "Code of an authenticator app."})
    recovery_code = Text(
        min=1, blank=True, max=64, metadata={"description": "An unused recovery code."}
    )
    credential = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "Passkey assertion for the options of `POST"
            " /reauthenticate/passkey/options`."
        },
    )
    code = Text(
        min=1,
        blank=True,
        max=64,
        metadata={"description": "One-time code from the email of `POST /login/code`."},
    )
    login_id = Text(
        min=1,
        blank=True,
        max=64,
        load_default=None,
        metadata={
            "description": "`login_id` from the response of `POST /login/code`; required with"
            " `code`."
        },
    )

    @validates_schema
    def require_one_way(self, data: Loaded, **kwargs: object) -> None:
        given = [way for way in WAYS if way in data]
        if len(given) != 1:
            raise ValidationError(f"Exactly one of {', '.join(WAYS)} must be given.")
        if "code" in data and data.get("login_id") is None:
            raise ValidationError("Missing data for required field.", "login_id")
