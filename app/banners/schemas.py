"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from marshmallow import RAISE, Schema, fields

from ..accounts.models import LOCALE_LENGTH
from ..accounts.schemas import ROLE, STATUS, check_role
from ..core.types import AccountKey
from ..core.web.fields import (
    EnumField,
    NamedEnum,
    ObjectOrWord,
    RequestSchema,
    StrictBoolean,
    StrictInteger,
    Text,
    Timestamp,
    response_field,
)
from ..notifications.content import Link
from ..notifications.schemas import AccountIds
from .models import EVERYONE, INFO, LEVELS, TEXT_LENGTH

MAX_IDS = 1_000
LEVEL = NamedEnum("BannerLevel", LEVELS)
_AUDIENCE = (
    "`everyone`, visitors included, or the accounts that meet all conditions of the object; without"
    " conditions, all accounts."
)
_URL = "Link of the banner: an `http` or `https` URL, or a path that begins with one `/`."
_ENDS_AT = "When the banner ends; `null`: when it is deleted."


class AudienceConditions(RequestSchema):
    """The accounts that meet all conditions."""

    class Meta(RequestSchema.Meta):
        # If a mistyped condition were ignored, more accounts would see the banner.
        unknown = RAISE

    class Input(TypedDict, total=False):
        ids: list[AccountKey]
        status: str
        active: bool
        verified: bool
        role: str
        workspace: int
        language: str

    ids = AccountIds(max=MAX_IDS, description="Accounts with these ids.")
    status = EnumField(STATUS, min=1, description="Accounts with this status.")
    active = StrictBoolean(description="Accounts that can sign in (`true`) or cannot (`false`).")
    verified = StrictBoolean(
        description="Accounts with a verified email address (`true`), or without (`false`)."
    )
    role = EnumField(ROLE, validate=check_role, description="Accounts with this role.")
    workspace = StrictInteger(description="Active members of the workspace with this id.")
    language = Text(
        min=1,
        max=LOCALE_LENGTH,
        description="Accounts with this language, such as `de`, also with a region: `de-AT`.",
    )


AudienceInput = AudienceConditions.Input | Literal["everyone"]


class BannerCreate(RequestSchema):
    class Input(TypedDict):
        text: str
        url: str | None
        level: str
        audience: AudienceInput
        starts_at: datetime | None
        ends_at: datetime | None
        dismissible: bool

    text = Text(min=1, max=TEXT_LENGTH, required=True, description="Text of the banner.")
    url = Link(load_default=None, description=_URL)
    level = EnumField(LEVEL, load_default=INFO, description="How important the banner is.")
    audience = ObjectOrWord(
        AudienceConditions, word=EVERYONE, load_default=dict, description=_AUDIENCE
    )
    starts_at = Timestamp(
        load_default=None, description="When the banner is first shown; by default at once."
    )
    ends_at = Timestamp(load_default=None, description=_ENDS_AT)
    dismissible = StrictBoolean(
        load_default=True, description="Whether accounts and visitors can dismiss the banner."
    )


class BannerUpdate(RequestSchema):
    class Input(TypedDict):
        text: NotRequired[str]
        url: NotRequired[str | None]
        level: NotRequired[str]
        audience: NotRequired[AudienceInput]
        starts_at: NotRequired[datetime]
        ends_at: NotRequired[datetime | None]
        dismissible: NotRequired[bool]

    text = Text(min=1, max=TEXT_LENGTH, description="Text of the banner.")
    url = Link(allow_none=True, description=_URL)
    level = EnumField(LEVEL, description="How important the banner is.")
    audience = ObjectOrWord(AudienceConditions, word=EVERYONE, description=_AUDIENCE)
    starts_at = Timestamp(description="When the banner is first shown.")
    ends_at = Timestamp(allow_none=True, description=_ENDS_AT)
    dismissible = StrictBoolean(description="Whether accounts and visitors can dismiss the banner.")


class BannerRead(Schema):
    id = response_field(fields.Integer, "ID of the banner.")
    text = response_field(fields.String, "Text of the banner.")
    url = response_field(fields.String, _URL, allow_none=True)
    level = response_field(EnumField, "How important the banner is.", LEVEL)
    dismissible = response_field(fields.Boolean, "Whether the banner can be dismissed.")
    starts_at = response_field(Timestamp, "When the banner is first shown.")
    ends_at = response_field(Timestamp, _ENDS_AT, allow_none=True)


class ManagedBannerRead(BannerRead):
    audience = response_field(ObjectOrWord, _AUDIENCE, AudienceConditions, word=EVERYONE)


MAINTENANCE = {
    "text": "Maintenance on Friday from 20:00 to 21:00 UTC.",
    "url": "https://status.example.com",
    "level": "warning",
    "audience": "everyone",
    "starts_at": "2030-01-01T12:00:00+00:00",
    "ends_at": "2030-01-04T21:00:00+00:00",
    "dismissible": True,
}
MANAGED = {"id": 7, **MAINTENANCE}
SHOWN = {name: MANAGED[name] for name in BannerRead().fields}
LONGER = {"ends_at": "2030-01-04T22:00:00+00:00"}
LATER_END = {**MANAGED, **LONGER}
DISMISSED = {"message": "Banner dismissed"}
