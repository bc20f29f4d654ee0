from __future__ import annotations

import re
from datetime import date
from typing import Any

from marshmallow import (
    INCLUDE,
    Schema,
    ValidationError,
    fields,
    post_dump,
    post_load,
    validates_schema,
)
from werkzeug.datastructures import FileStorage

from ..core.http.fields import Moment, Received, Text
from .extra import faults_in
from .links import NOT_AN_ADDRESS, is_own_path, is_web_address, picture_url
from .models import URL_LENGTH, Profile
from .picture import MOST_BYTES

READ_ONLY = ("id", "account_id", "created_at", "updated_at")

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Day(fields.Date):
    """2030-12-31 and nothing else; Python's own reading also takes weeks and no hyphens."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> date:
        if not isinstance(value, str) or not _DAY.fullmatch(value):
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        found: date = super()._deserialize(value, attr, data, **kwargs)
        return found


class PictureAddress(Text):
    """An http(s) address; or one of ours, which a client sends back with the rest of a profile."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not (is_own_path(text) or is_web_address(text)):
            raise ValidationError(NOT_AN_ADDRESS)
        return text


class ProfileCreate(Received):
    class Meta:
        unknown = INCLUDE

    first_name = Text(min=1, max=100, required=True)
    last_name = Text(min=1, max=100, required=True)
    date_of_birth = Day(required=True)
    gender = Text(min=1, max=50, required=True)
    marital_status = Text(min=1, max=50, required=True)
    phone = Text(max=50, allow_none=True)
    address = Text(max=255, allow_none=True)
    city = Text(max=100, allow_none=True)
    state = Text(max=100, allow_none=True)
    country = Text(max=100, allow_none=True)
    postal_code = Text(max=20, allow_none=True)
    avatar = PictureAddress(max=URL_LENGTH, allow_none=True)
    bio = Text(max=2000, allow_none=True)

    @validates_schema(skip_on_field_errors=False)
    def bound_extra(self, data: dict[str, Any], **kwargs: Any) -> None:
        if faults := faults_in(self._extra(data)):
            raise ValidationError(faults)

    @post_load
    def set_apart_extra(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        known = {name: value for name, value in data.items() if name in self.fields}
        return {**known, "extra": self._extra(data)}

    def _extra(self, data: dict[str, Any]) -> dict[str, Any]:
        """What is not ours. The read-only properties of an answer that comes back are dropped."""
        ours = {*self.fields, *READ_ONLY}
        return {name: value for name, value in data.items() if name not in ours}


class ProfileUpdate(ProfileCreate):
    """The same properties, none of them required."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"partial": True, **options})


class SentFile(fields.Raw):
    """A file of a form, as bytes; one more than may be sent tells that it is too large."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bytes:
        if not isinstance(value, FileStorage):
            raise self.make_error("invalid")
        return value.stream.read(MOST_BYTES + 1)


class AvatarFile(Received):
    avatar = SentFile(required=True, metadata={"type": "string", "format": "binary"})


class ProfileRead(Schema):
    class Meta:
        unknown = INCLUDE

    id = fields.Integer(required=True)
    account_id = fields.Integer(required=True)
    first_name = fields.String(required=True)
    last_name = fields.String(required=True)
    date_of_birth = fields.Date(required=True)
    gender = fields.String(required=True)
    marital_status = fields.String(required=True)
    phone = fields.String(required=True, allow_none=True)
    address = fields.String(required=True, allow_none=True)
    city = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, allow_none=True)
    country = fields.String(required=True, allow_none=True)
    postal_code = fields.String(required=True, allow_none=True)
    avatar = fields.Method(
        "avatar_address",
        required=True,
        allow_none=True,
        metadata={"type": "string", "description": "Usable as an image source"},
    )
    bio = fields.String(required=True, allow_none=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)

    def avatar_address(self, profile: Profile) -> str | None:
        return picture_url(profile.avatar_file) if profile.avatar_file else profile.avatar

    @post_dump(pass_original=True)
    def add_extra(self, data: dict[str, Any], profile: Profile, **kwargs: Any) -> dict[str, Any]:
        return {**profile.extra, **data}
