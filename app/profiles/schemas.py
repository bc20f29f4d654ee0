"""Schemas of profiles, with the examples of the OpenAPI document."""

import re
from datetime import date
from functools import cache
from typing import IO, Any, TypedDict

from marshmallow import (
    INCLUDE,
    Schema,
    ValidationError,
    fields,
    post_dump,
    post_load,
    validate,
    validates_schema,
)
from werkzeug.datastructures import FileStorage

from ..core.coded_messages import CodedMessage
from ..core.context import current_frontdesk
from ..core.types import JsonObject, Values
from ..core.web.fields import AccountId, RequestSchema, Text, Timestamp, response_field
from ..core.web.operation import SchemaSource
from ..core.web.request_data import schema_for, schema_instance
from .extra import find_errors
from .links import NOT_A_URL, is_picture_path, is_web_url, picture_url
from .models import PROPERTIES, URL_LENGTH, WRITABLE, Profile
from .picture import MAX_BYTES
from .settings import ProfilesSettings

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Day(fields.Date):
    """A date such as 2030-12-31. Python's parser also accepts weeks and omitted hyphens."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> date:
        if not isinstance(value, str) or not _DAY.fullmatch(value):
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        found: date = super()._deserialize(value, attr, data, **kwargs)
        return found


class PictureUrl(Text):
    """An http(s) URL, or the path of a stored picture that a client sends back unchanged."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not (is_picture_path(text) or is_web_url(text)):
            raise ValidationError(NOT_A_URL)
        return text


class ProfileCreate(RequestSchema):
    """The body of a request that creates a profile. Subclass it to change the properties."""

    class Meta:
        unknown = INCLUDE

    first_name = Text(min=1, max=100, required=True, description="First name.")
    last_name = Text(min=1, max=100, required=True, description="Last name.")
    date_of_birth = Day(
        required=True, metadata={"description": "Date of birth, as an ISO 8601 date."}
    )
    gender = Text(min=1, max=50, required=True, description="Gender, as free text.")
    marital_status = Text(min=1, max=50, required=True, description="Marital status, as free text.")
    phone = Text(max=50, allow_none=True, description="Phone number, as free text.")
    address = Text(max=255, allow_none=True, description="Street address.")
    city = Text(max=100, allow_none=True, description="City.")
    state = Text(max=100, allow_none=True, description="State or region.")
    country = Text(max=100, allow_none=True, description="Country.")
    postal_code = Text(max=20, allow_none=True, description="Postal code.")
    avatar = PictureUrl(
        max=URL_LENGTH,
        allow_none=True,
        pattern=r"^(https?://|/)[^\s\x00]+$",
        description="An http or https URL, or that of the stored avatar",
    )
    bio = Text(max=2000, allow_none=True, description="Short text about the person.")

    @validates_schema(skip_on_field_errors=False)
    def check_extra(self, data: JsonObject, **kwargs: object) -> None:
        if faults := find_errors(_extra(data)):
            raise ValidationError(faults)

    @post_load(pass_original=True)
    def keep_order(self, data: JsonObject, sent: Values, **kwargs: object) -> JsonObject:
        """Restore the client's order: marshmallow loads unknown properties from a set."""
        order = {name: number for number, name in enumerate(sent)}
        return dict(sorted(data.items(), key=lambda item: order.get(item[0], -1)))


class _Partial(Schema):
    """Makes all properties of a schema optional."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"partial": True, **options})


class ProfileUpdate(_Partial, ProfileCreate):
    """The body of a request that changes a profile: no property is required."""


class UploadedFile(fields.Raw):
    """A file of a form. The service reads its stream when memory is available."""

    def _deserialize(
        self, value: object, attr: object, data: object, **kwargs: object
    ) -> IO[bytes]:
        if not isinstance(value, FileStorage):
            raise ValidationError(CodedMessage("Not a file.", "invalid_type", expected="file"))
        return value.stream


def _picture_field() -> UploadedFile:
    return UploadedFile(
        required=True,
        metadata={
            "type": "string",
            "format": "binary",
            "minLength": 1,
            "maxLength": MAX_BYTES,
            "description": "A PNG, JPEG, WebP or GIF picture",
        },
    )


class AvatarFile(RequestSchema):
    class Input(TypedDict):
        avatar: IO[bytes]

    avatar = _picture_field()


class LogoFile(RequestSchema):
    class Input(TypedDict):
        logo: IO[bytes]

    logo = _picture_field()


class ProfileRead(Schema):
    """A profile in responses. Subclass it to change the properties."""

    class Meta:
        unknown = INCLUDE

    id = response_field(fields.Integer, "ID of the profile.")
    account_id = response_field(AccountId, "ID of the account that the profile belongs to.")
    first_name = response_field(fields.String, "First name.", allow_none=True)
    last_name = response_field(fields.String, "Last name.", allow_none=True)
    date_of_birth = response_field(
        fields.Date, "Date of birth, as an ISO 8601 date.", allow_none=True
    )
    gender = response_field(fields.String, "Gender, as free text.", allow_none=True)
    marital_status = response_field(fields.String, "Marital status, as free text.", allow_none=True)
    phone = response_field(fields.String, "Phone number, as free text.", allow_none=True)
    address = response_field(fields.String, "Street address.", allow_none=True)
    city = response_field(fields.String, "City.", allow_none=True)
    state = response_field(fields.String, "State or region.", allow_none=True)
    country = response_field(fields.String, "Country.", allow_none=True)
    postal_code = response_field(fields.String, "Postal code.", allow_none=True)
    avatar = response_field(
        fields.String, "URL of the avatar, usable as an image source.", allow_none=True
    )
    bio = response_field(fields.String, "Short text about the person.", allow_none=True)
    created_at = response_field(Timestamp, "When the profile was created.")
    updated_at = response_field(Timestamp, "When the profile was last changed.")

    @post_dump(pass_original=True)
    def add_extra(self, data: JsonObject, profile: Values, **kwargs: object) -> JsonObject:
        return {**_extra(profile), **data}


def create_schema() -> type[Schema]:
    return current_frontdesk.schemas.get("profile_create", ProfileCreate)


def update_schema() -> type[Schema]:
    """Return the application's schema for updates, or its schema for creation with optional
    properties."""
    schemas = current_frontdesk.schemas
    if "profile_create" in schemas and "profile_update" not in schemas:
        return _partial(schemas["profile_create"])
    return schemas.get("profile_update", ProfileUpdate)


def read_schema() -> type[Schema]:
    return current_frontdesk.schemas.get("profile_read", ProfileRead)


@cache
def _partial(schema: type[Schema]) -> type[Schema]:
    return type(f"{schema.__name__}Partial", (_Partial, schema), {})


def form_schema() -> type[Schema]:
    """Return the schema of the console's form for a new profile."""
    return _as_form(create_schema())


def form_update_schema() -> type[Schema]:
    """Return the schema of the console's form for an existing profile."""
    return _as_form(update_schema())


def _as_form(schema: type[Schema]) -> type[Schema]:
    if schema not in (ProfileCreate, ProfileUpdate):
        return schema
    required = frozenset(current_frontdesk.settings.of(ProfilesSettings).FORM_REQUIRED)
    return type(f"{schema.__name__}Form", (_Form, schema), {"required_in_form": required})


class _Form(Schema):
    """Requires the properties of `PROFILES__FORM_REQUIRED`; the others may be null."""

    required_in_form: frozenset[str]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, field in self.load_fields.items():
            field.required = name in self.required_in_form
            field.allow_none = not field.required
            if field.required and isinstance(field, Text) and not field.must_not_be_blank:
                field.must_not_be_blank = True
                # Copies of a field share its list of validators.
                field.validators = [*field.validators, validate.Length(min=1, max=field.max)]


def to_columns(source: SchemaSource, loaded: Values) -> JsonObject:
    """Split loaded values into columns and `extra`.

    Only properties that the schema declares become columns. Names of columns that are read-only or
    not declared are ignored.
    """
    declared = schema_for(source).load_fields.items()
    columns = WRITABLE.intersection(field.attribute or name for name, field in declared)
    known = {name: value for name, value in loaded.items() if name in columns}
    return {**known, "extra": _extra(loaded)}


def blank_profile() -> JsonObject | None:
    """Return the columns for an empty body, or None if the schema has required properties."""
    try:
        return to_columns(create_schema, schema_instance(create_schema()).load({}))
    except ValidationError:
        return None


def to_properties(profile: Profile) -> Values:
    """Return all properties of a profile by name, for any schema."""
    properties = profile.extra | {name: getattr(profile, name) for name in PROPERTIES}
    if profile.avatar_file:
        properties["avatar"] = picture_url(profile.avatar_file)
    return properties


def as_profile_read(properties: Values) -> JsonObject:
    """Return what `ProfileRead` shows: its fields and the additional properties."""
    hidden = PROPERTIES.difference(ProfileRead._declared_fields)
    return {name: value for name, value in properties.items() if name not in hidden}


def _extra(properties: Values) -> JsonObject:
    return {name: value for name, value in properties.items() if name not in PROPERTIES}


ADA = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
    "city": "London",
    "nickname": "Countess",
}
ADA_READ = {
    "id": 5,
    "account_id": 3,
    **dict.fromkeys(sorted(WRITABLE)),
    **ADA,
    "created_at": "2030-01-01T12:00:00+00:00",
    "updated_at": "2030-01-01T12:00:00+00:00",
}
PICTURE = "https://api.example.com/api/v1/profiles/avatars/00112233445566778899aabbccddeeff.jpg"
WITH_PICTURE = {**ADA_READ, "avatar": PICTURE}
MOVED = {"city": "London"}
