"""Schema fields that accept only values that both databases can store."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, ParamSpec, TypedDict, TypeVar
from uuid import UUID

from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate

from ..coded_messages import BLANK, NOT_STORABLE, CodedMessage
from ..context import current_frontdesk
from ..db.account_ids import MAX_ID, UUID_PATTERN, IdKind, IntegerIds, StringIds, serialize_id
from ..types import Values
from .faults import prepare_field

_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
# Unicode categories of invisible characters: white space, control and format characters.
_BLANK = {"Zs", "Zl", "Zp", "Cc", "Cf"}
# Patterns for the OpenAPI document, as exact as all tools understand them.
STORABLE = r"^[^\x00]*$"
NOT_BLANK = r"^[^\x00]*[^\x00\s][^\x00]*$"
_SURROGATE = re.compile("[\ud800-\udfff]")
_TRUE, _FALSE = {"true", "1"}, {"false", "0"}


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL accepts the text: no NUL and no lone surrogates."""
    return "\x00" not in text and (text.isascii() or not _SURROGATE.search(text))


def is_not_blank(text: str) -> bool:
    return any(unicodedata.category(character) not in _BLANK for character in text)


Options = ParamSpec("Options")
Kind = TypeVar("Kind", bound=fields.Field[Any])


def response_field(
    kind: Callable[Options, Kind],
    description: str,
    /,
    *args: Options.args,
    **options: Options.kwargs,
) -> Kind:
    """Return a field that responses always have, with its description in the OpenAPI document."""
    create: Callable[..., Kind] = kind
    metadata: Any = {"description": description, **_metadata_of(options)}
    return create(*args, **{**options, "required": True, "metadata": metadata})


class Described:
    """A field that takes its description as an argument."""

    def __init__(self, *args: Any, description: str = "", **options: Any) -> None:
        if description:
            options["metadata"] = {"description": description, **_metadata_of(options)}
        super().__init__(*args, **options)


def _metadata_of(options: Values) -> Values:
    found: Values | None = options.get("metadata")
    return found or {}


def _listed(checks: object) -> list[Any]:
    if checks is None:
        return []
    return list(checks) if isinstance(checks, (list, tuple)) else [checks]


class Text(Described, fields.String):
    """A string. With `min` over 0 it must not be blank, unless `blank` allows it.

    `pattern` is only for the OpenAPI document; `validate` checks the value.
    """

    def __init__(
        self,
        *,
        max: int,
        min: int = 0,
        strip: bool = False,
        blank: bool = False,
        pattern: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.max = max
        self.strip = strip
        self.must_not_be_blank = min > 0 and not blank
        self.pattern = pattern or (NOT_BLANK if self.must_not_be_blank else STORABLE)
        checks = [validate.Length(min=min or None, max=max), *_listed(kwargs.pop("validate", None))]
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not isinstance(value, str):
            raise self.make_error("invalid")
        if not is_storable(text):
            raise ValidationError(NOT_STORABLE)
        if self.must_not_be_blank and text and not is_not_blank(text):
            raise ValidationError(BLANK)
        return text.strip() if self.strip else text


@dataclass(frozen=True)
class NamedEnum:
    """A set of strings: one enum in the OpenAPI document, wherever it is used."""

    name: str
    # A function if the application can add values.
    values: tuple[str, ...] | Callable[[], Iterable[str]]
    # Other strings may be stored too.
    is_open: bool = False
    description: str = ""

    def known_values(self) -> list[str]:
        values = self.values() if callable(self.values) else self.values
        return list(dict.fromkeys(values))


class EnumField(Text):
    """One value of an enum. An open enum, or one with the application's values, is not checked."""

    def __init__(self, enum: NamedEnum, *, max: int = 50, **kwargs: Any) -> None:
        if isinstance(enum.values, tuple) and not enum.is_open:
            kwargs.setdefault("validate", validate.OneOf(enum.values))
        super().__init__(max=max, **kwargs)
        self.enum = enum


class StrictInteger(Described, fields.Integer):
    """An integer in ASCII digits; marshmallow's field also accepts `1_0` and `٣`."""

    def __init__(self, *, min: int = 0, max: int = MAX_ID, **kwargs: Any) -> None:
        checks = [validate.Range(min=min, max=max), *_listed(kwargs.pop("validate", None))]
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise self.make_error("invalid")
        if isinstance(value, str) and not _INTEGER.fullmatch(value):
            raise self.make_error("invalid")
        return int(value)


class Uuid(fields.UUID):
    """A UUID in the format of RFC 9562; marshmallow's field also accepts other formats."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> UUID:
        if not isinstance(value, str) or not re.fullmatch(UUID_PATTERN, value):
            raise self.make_error("invalid_uuid")
        return UUID(value)


def field_for(kind: IdKind, *, received: bool, **options: Any) -> fields.Field[Any]:
    match kind:
        case IntegerIds():
            return StrictInteger(max=kind.max, **options) if received else fields.Integer(**options)
        case StringIds():
            if not received:
                return fields.String(**options)
            return Text(min=1, max=kind.max_length, **options)
    return Uuid(**options)


@cache
def _received_field(kind: IdKind) -> fields.Field[Any]:
    field = field_for(kind, received=True)
    prepare_field(field)
    return field


class AccountId(Described, fields.Field[Any]):
    """Schema field for the id of an account, with the type of the application's ids."""

    def __init__(self, *, received: bool = False, **kwargs: Any) -> None:
        """`received`: the field is in requests, not only in responses."""
        super().__init__(**kwargs)
        self.received = received

    def as_described(self) -> fields.Field[Any]:
        return field_for(
            current_frontdesk.tables.account_ids,
            received=self.received,
            required=self.required,
            allow_none=self.allow_none,
            metadata=self.metadata,
        )

    def _serialize(self, value: object, attr: object, obj: object, **kwargs: object) -> object:
        # The most frequent kind first.
        return value if isinstance(value, int) else serialize_id(value)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> object:
        kind = current_frontdesk.tables.account_ids
        read = _received_field(kind).deserialize(value, attr, data)
        return kind.from_text(read)


class StrictBoolean(Described, fields.Boolean):
    """true or false, in a query also 1 or 0; marshmallow's field also accepts `y` and `off`."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise self.make_error("invalid", input=value)


class IsUnset(fields.Boolean):
    """Serializes whether the attribute is unset."""

    def _serialize(self, value: object, attr: object, obj: object, **kwargs: object) -> bool:
        return value is None


class ObjectOrWord(fields.Nested):
    """An object, or one word in its place."""

    def __init__(self, schema: type[Schema], *, word: str, description: str = "", **kwargs: Any):
        if description:
            kwargs["metadata"] = {"description": description}
        super().__init__(schema, **kwargs)
        self.word = word

    def _deserialize(self, value: object, *args: Any, **kwargs: Any) -> object:
        return value if value == self.word else super()._deserialize(value, *args, **kwargs)

    def _serialize(  # type: ignore[override]
        self, nested_obj: object, attr: object, obj: object, **kwargs: object
    ) -> object:
        if nested_obj == self.word:
            return nested_obj
        return super()._serialize(nested_obj, attr, obj, **kwargs)  # type: ignore[no-untyped-call]


class Timestamp(Described, fields.AwareDateTime):
    """A timestamp in ISO 8601, in UTC with an offset."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(format="iso", **kwargs)

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> Any:
        timestamp = super()._deserialize(value, attr, data, **kwargs)
        try:
            return timestamp.astimezone(UTC)
        except OverflowError:  # at either end of the calendar
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE) from None

    def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
        if isinstance(value, datetime) and value.tzinfo is None:
            # A column of an application may have no offset.
            value = value.replace(tzinfo=UTC)
        return super()._serialize(value, attr, obj, **kwargs)


class RequestSchema(Schema):
    """A request body. Unknown properties are ignored unless a subclass decides otherwise.

    A subclass declares the type of its loaded data as `Input`, which the view takes. A test
    compares `Input` with the fields.
    """

    class Meta:
        unknown = EXCLUDE

    @pre_load
    def check_names(self, data: object, **kwargs: object) -> object:
        if isinstance(data, Mapping) and not all(is_storable(str(name)) for name in data):
            raise ValidationError(
                CodedMessage(
                    "A property name contains characters that cannot be stored.",
                    "invalid_format",
                    expected="text",
                )
            )
        return data


def page_limit() -> StrictInteger:
    text = "Maximum number of items to return."
    return StrictInteger(load_default=100, min=1, max=500, description=text)


def page_start(max_length: int) -> Text:
    text = "Position after which the page starts, from the `Link` header of the previous page."
    return Text(min=1, max=max_length, description=text)


def page_end(max_length: int) -> Text:
    text = "Position before which the page ends, from the `Link` header of the following page."
    return Text(min=1, max=max_length, description=text)


class Page(RequestSchema):
    """The query of a list: `offset` and `limit`. Subclass it to add filters."""

    class Input(TypedDict):
        offset: int
        limit: int

    offset = StrictInteger(load_default=0, description="Number of items to skip.")
    limit = page_limit()


class Message(Schema):
    """The response of a route that has no resource to return."""

    message = response_field(
        fields.String, "What happened, for people.", metadata={"example": "Done"}
    )
