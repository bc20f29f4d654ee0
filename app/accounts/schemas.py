from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypedDict

from marshmallow import Schema, ValidationError, fields

from ..core.coded_messages import CodedMessage
from ..core.context import current_frontdesk, service
from ..core.types import JsonObject, Values
from ..core.web.fields import (
    AccountId,
    EnumField,
    IsUnset,
    NamedEnum,
    RequestSchema,
    Text,
    Timestamp,
    response_field,
)
from ..core.web.request_data import load_body, schema_instance
from .addresses import read_phone
from .errors import InvalidPhone
from .locales import LOCALE, locale_of, time_zones
from .models import DELETING, LOCALE_LENGTH, OWNER_FIELDS, PENDING, STATUSES, TIME_ZONE_LENGTH
from .own_columns import required_columns, with_own_fields
from .service import Accounts, not_a_role

# The schemas of an application that declare its own columns.
OwnSchema = Literal["registration", "account_update"]
ROLE = NamedEnum("AccountRole", lambda: service(Accounts).roles)
STATUS = NamedEnum(
    "AccountStatus",
    (*STATUSES, PENDING, DELETING),
    is_open=True,
    description="Status of an account. Applications can use other values too.",
)
NOT_A_LANGUAGE = CodedMessage(
    "Not a language tag, such as en or pt-BR.", "invalid_format", expected="language"
)
NOT_A_TIME_ZONE = CodedMessage(
    "Not a time zone, such as Europe/London.", "invalid_format", expected="time_zone"
)


def check_role(role: str) -> None:
    if role not in (roles := service(Accounts).roles):
        raise ValidationError(not_a_role(roles))


class AccountRead(Schema):
    """An account in responses. Subclass it to add fields."""

    id = response_field(AccountId, "ID of the account.")
    email = response_field(fields.String, "Email address, which is also the login name.")
    status = response_field(
        EnumField, "Status of the account. Only active accounts can sign in.", STATUS
    )
    role = response_field(EnumField, "Role of the account.", ROLE)
    phone = response_field(
        fields.String,
        "Phone number in international format, such as `+442079460000`.",
        allow_none=True,
    )
    last_login_date = response_field(Timestamp, "When the account last signed in.", allow_none=True)
    current_workspace_id = response_field(
        fields.Integer, "ID of the account's current workspace.", allow_none=True
    )
    created_at = response_field(Timestamp, "When the account was created.")
    # Only if the account model has these columns.
    email_verified: fields.Boolean = IsUnset(
        attribute="email_unverified_since",
        metadata={"description": "Whether the email address is verified."},
    )
    locale = fields.String(
        allow_none=True,
        metadata={"description": "Language as a BCP 47 tag, such as `de` or `en-GB`."},
    )
    time_zone = fields.String(
        allow_none=True, metadata={"description": "IANA time zone, such as `Europe/Berlin`."}
    )


class Phone(Text):
    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        try:
            return read_phone(super()._deserialize(value, attr, data, **kwargs))
        except InvalidPhone:
            raise ValidationError(InvalidPhone.message) from None


class Locale(Text):
    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        found = locale_of(super()._deserialize(value, attr, data, **kwargs))
        if found is None:
            raise ValidationError(NOT_A_LANGUAGE)
        return found


class TimeZone(Text):
    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if name not in time_zones():
            raise ValidationError(NOT_A_TIME_ZONE)
        return name


class OwnAccountUpdate(RequestSchema):
    """The changes of an account by its owner; null removes a value. Subclass it to add fields,
    which are stored in the columns of the account with the same names."""

    class Input(TypedDict, total=False):
        phone: str | None
        locale: str | None
        time_zone: str | None

    phone = Phone(
        min=1,
        max=64,
        allow_none=True,
        description="Phone number in international format, such as `+442079460000`.",
        metadata={"example": "+442079460000"},
    )
    locale = Locale(
        min=1,
        max=LOCALE_LENGTH,
        pattern=LOCALE,
        allow_none=True,
        description="Language as a BCP 47 tag, such as `de` or `en-GB`.",
    )
    time_zone = TimeZone(
        min=1,
        max=TIME_ZONE_LENGTH,
        allow_none=True,
        description="IANA time zone, such as `Europe/Berlin`.",
    )


def account_update() -> type[Schema]:
    """Return the schema with the fields that the account model has."""
    model = current_frontdesk.tables.account_model
    schema = current_frontdesk.schemas.get("account_update", OwnAccountUpdate)
    absent = [name for name in ("locale", "time_zone") if getattr(model, name, None) is None]
    return _without(schema, tuple(name for name in absent if name in schema._declared_fields))


@cache
def _without(schema: type[Schema], absent: tuple[str, ...]) -> type[Schema]:
    if not absent:
        return schema
    meta = type("Meta", (schema.Meta,), {"exclude": absent})
    return type(schema.__name__, (schema,), {"Meta": meta})


class _OwnColumns(RequestSchema):
    """The columns of an application in a command or a file."""


def own_schema(kind: OwnSchema) -> type[Schema]:
    is_new = kind == "registration"
    required = required_columns(current_frontdesk.tables.account_model) if is_new else ()
    left_out = frozenset({"password", "invitation", *OWNER_FIELDS})
    schema = current_frontdesk.schemas.get(kind)
    return with_own_fields(_OwnColumns, schema, left_out, frozenset(required))


def own_fields(kind: OwnSchema) -> Mapping[str, fields.Field[Any]]:
    """Return the fields of the columns that an application's schema declares."""
    declared = schema_instance(own_schema(kind)).load_fields
    return {name: field for name, field in declared.items() if name != "email"}


def sign_up_fields() -> Mapping[str, fields.Field[Any]]:
    """Return the fields that an application's sign-up adds, as a visitor must fill them in."""
    schema = current_frontdesk.schemas.get("registration")
    declared = {} if schema is None else schema_instance(schema).load_fields
    ours = ("email", "password", "invitation")
    return {name: field for name, field in declared.items() if name not in ours}


def load_own(kind: OwnSchema, given: Values, email: str) -> JsonObject:
    """Return the values of these columns, as the application's schema loads them.

    Raises Invalid. The email address is for the schema's checks.
    """
    loaded: JsonObject = load_body(own_schema(kind), {**given, "email": email})
    return {name: value for name, value in loaded.items() if name != "email"}
