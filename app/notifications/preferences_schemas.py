"""Schemas of an account's preferences, with the examples of the OpenAPI document."""

from typing import Any, TypedDict

from marshmallow import Schema, fields, validate

from ..core.web.fields import RequestSchema, StrictBoolean, Text, response_field
from ..delivery.outbox.models import KIND_LENGTH
from .optouts import CHANNEL_LENGTH

# More than the kinds and channels of any application.
MAX_CHOICES = 500


class PreferencesUpdate(RequestSchema):
    class Input(TypedDict):
        kinds: dict[str, Any]

    kinds = fields.Dict(
        keys=Text(max=KIND_LENGTH),
        values=fields.Dict(
            keys=Text(max=CHANNEL_LENGTH),
            values=StrictBoolean(),
            validate=validate.Length(max=MAX_CHOICES),
        ),
        required=True,
        validate=validate.Length(max=MAX_CHOICES),
        metadata={
            "description": "Whether notifications are sent, by the key of the kind and by channel."
            " Kinds and channels that are left out stay as they are."
        },
    )


class KindPreferences(Schema):
    """A kind of notifications, and the channels that send it to the account."""

    key = response_field(fields.String, "Key of the kind.")
    name = response_field(fields.String, "Name of the kind.")
    description = response_field(fields.String, "What the notifications are about.")
    mandatory = response_field(fields.Boolean, "Whether the kind cannot be turned off.")
    channels = response_field(
        fields.Dict,
        "Whether notifications are sent, by channel. The inbox has all notifications.",
        keys=fields.String(),
        values=fields.Boolean(),
    )


class PreferencesRead(Schema):
    kinds = response_field(
        fields.List, "All kinds of notifications.", fields.Nested(KindPreferences)
    )


PREFERENCES = {
    "kinds": [
        {
            "key": "account",
            "name": "Account",
            "description": "Sign-in, recovery and security.",
            "mandatory": True,
            "channels": {"email": True},
        },
        {
            "key": "announcements",
            "name": "Announcements",
            "description": "News and maintenance.",
            "mandatory": False,
            "channels": {"email": False},
        },
    ]
}
CHOICES = {"kinds": {"announcements": {"email": False}}}
