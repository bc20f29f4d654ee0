"""The codes of validation errors, by the class of the field or validator that fails.

Fields and validators of Frontdesk raise a `CodedMessage`. Those of marshmallow, which the schemas
of an application use, get their codes here: a schema is prepared once, before it loads a request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import cache
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from ..coded_messages import INVALID, CodedMessage, ValidationMessage
from ..errors import Fault
from ..types import Values

Code = tuple[str, Values]
Validator = Callable[[Any], object]
Messages = dict[str, Any]
# The classes of the schemas around a field.
Outer = tuple[type[Schema], ...]

_OF_SCHEMAS = Schema._default_error_messages


def _type(expected: str) -> Code:
    return "invalid_type", {"expected": expected}


def _format(expected: str) -> Code:
    return "invalid_format", {"expected": expected}


# The codes for marshmallow's keys of error messages. A subclass adds its keys to its base's.
_CODES: dict[type[object], dict[str, Code]] = {
    Schema: {"unknown": ("unknown_field", {}), "type": _type("object")},
    fields.Field: {"required": ("required", {}), "null": ("null", {})},
    fields.Nested: {"type": _type("object")},
    fields.List: {"invalid": _type("array")},
    fields.Tuple: {"invalid": _type("array")},
    fields.Mapping: {"invalid": _type("object")},
    fields.String: {"invalid": _type("string"), "invalid_utf8": _type("string")},
    fields.UUID: {"invalid_uuid": _format("uuid")},
    fields.Number: {"invalid": _type("number"), "too_large": ("out_of_range", {})},
    fields.Integer: {"invalid": _type("integer")},
    fields.Float: {"special": _type("number")},
    fields.Decimal: {"special": _type("number")},
    fields.Boolean: {"invalid": _type("boolean")},
    fields.DateTime: {"invalid": _format("datetime"), "invalid_awareness": _format("datetime")},
    fields.Time: {"invalid": _format("time")},
    fields.Date: {"invalid": _format("date")},
    fields.TimeDelta: {"invalid": _format("duration")},
    fields.Url: {"invalid": _format("url")},
    fields.Email: {"invalid": _format("email")},
    fields.IP: {"invalid_ip": _format("ip")},
    fields.IPv4: {"invalid_ip": _format("ipv4")},
    fields.IPv6: {"invalid_ip": _format("ipv6")},
    fields.IPInterface: {"invalid_ip_interface": _format("ip_interface")},
}


def read_faults(error: ValidationError, location: str) -> list[Fault]:
    return [Fault.of(location, *pair) for pair in _flatten(error.messages)]


@cache
def prepare_schema(schema: Schema) -> Schema:
    """Give the errors of a schema their codes, and return the schema."""
    _prepare(schema, ())
    return schema


def prepare_field(field: fields.Field[Any], outer: Outer = ()) -> None:
    field.error_messages = _coded_by_key(field.error_messages, field)
    field.validators = [_with_code(check) for check in field.validators]
    match field:
        case fields.Nested():
            if type(field.schema) in outer:
                _prepare_at_first_use(field)
            else:
                _prepare(field.schema, outer)
        case fields.List(inner=inner):
            prepare_field(inner, outer)
        case fields.Tuple(tuple_fields=inner):
            for each in inner:
                prepare_field(each, outer)
        case fields.Mapping(key_field=key, value_field=value):
            for each in filter(None, (key, value)):
                prepare_field(each, outer)


def _prepare(schema: Schema, outer: Outer) -> None:
    schema.error_messages = _coded_by_key(schema.error_messages, schema)
    for field in schema.load_fields.values():
        prepare_field(field, (*outer, type(schema)))


def _prepare_at_first_use(field: fields.Nested) -> None:
    """Prepare a schema within itself with the first value: it has no end."""
    deserialize = field.deserialize

    def prepare_and_deserialize(*args: Any, **options: Any) -> object:
        prepare_schema(field.schema)
        return deserialize(*args, **options)

    field.deserialize = prepare_and_deserialize  # type: ignore[method-assign]


def _coded_by_key(messages: Mapping[str, Any], source: Schema | fields.Field[Any]) -> Messages:
    """Return the error messages of a field or a schema with their codes."""
    codes: dict[str, Code] = {}
    defaults: Messages = {}
    for kind in reversed(type(source).__mro__):
        if kind in _CODES:
            codes.update(_CODES[kind])
            defaults.update(getattr(kind, "default_error_messages", _OF_SCHEMAS))
    if isinstance(source, fields.Enum):
        names = (each.value if source.by_value else each.name for each in source.enum)
        codes["unknown"] = _not_one_of(names)
        defaults.update(fields.Enum.default_error_messages)
    return {
        key: _coded(message, codes[key], is_own=message != defaults.get(key))
        if key in codes
        else message
        for key, message in messages.items()
    }


def _coded(message: object, code: Code, *, is_own: bool) -> Any:
    """Return a message, or several in lists and dicts, with the code. A message that has a code
    keeps it; pages show the application's own messages."""
    match message:
        case CodedMessage():
            return message
        case str():
            kind = ValidationMessage if is_own else CodedMessage
            return kind(message, code[0], **code[1])
        case list():
            return [_coded(each, code, is_own=is_own) for each in message]
        case dict():
            return {name: _coded(each, code, is_own=is_own) for name, each in message.items()}
    return message


# The attributes of validators with the templates of their messages.
_TEMPLATES = ("error", "message_min", "message_max", "message_all", "message_equal")


def _with_code(check: Validator) -> Validator:
    """Return a copy of a validator of marshmallow whose messages have a code, otherwise the
    validator. The code is in the templates, so that it costs nothing for valid values."""
    if isinstance(check, validate.And):
        return validate.And(*map(_with_code, check.validators))
    if not isinstance(check, validate.Length) and _code_of(check) is None:
        return check
    coded = copy(check)
    own = getattr(check, "error", None)
    is_own = own not in (None, getattr(check, "default_message", None))
    for name in _TEMPLATES:
        text = getattr(check, name, None)
        if isinstance(text, str) and not isinstance(text, CodedMessage):
            setattr(coded, name, _template(check, text, is_own=is_own and name == "error"))
    return coded


def _template(check: Validator, text: str, *, is_own: bool) -> str:
    if isinstance(check, validate.Length):
        return _LengthTemplate(text, "too_long", is_own=is_own)
    coded: str = _coded(text, _code_of(check) or (INVALID, {}), is_own=is_own)
    return coded


class _LengthTemplate(CodedMessage):
    """The template of a validator of lengths, whose code depends on the value."""

    __slots__ = ()

    def format(self, *args: object, **values: Any) -> CodedMessage:  # type: ignore[override]
        kind = ValidationMessage if self.params["is_own"] else CodedMessage
        code, params = _length(**values)
        return kind(str.format(self, *args, **values), code, **params)


def _length(input: Any, min: int | None, max: int | None, equal: int | None) -> Code:
    shortest, longest = (min, max) if equal is None else (equal, equal)
    if shortest is not None and len(input) < shortest:
        return "too_short", {"min": shortest}
    return "too_long" if isinstance(input, (str, bytes)) else "too_many", {"max": longest}


def _code_of(check: Validator) -> Code | None:
    match check:
        case validate.Range(min=low, max=high):
            return "out_of_range", _without_none(min=low, max=high)
        case validate.OneOf(choices=choices):
            return _not_one_of(choices)
        case validate.NoneOf():
            return "reserved", {}
        case validate.Equal(comparable=comparable):
            return _not_one_of([comparable])
        case validate.Email():
            return _format("email")
        case validate.URL():
            return _format("url")
        case validate.Regexp():
            return _format("pattern")
    return None


def _not_one_of(choices: Iterable[object]) -> Code:
    return "not_one_of", {"choices": list(choices)}


def _without_none(**params: object) -> Values:
    return {name: value for name, value in params.items() if value is not None}


def _flatten(messages: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            # Marshmallow's name for errors of the whole object.
            own = "" if name == "_schema" else str(name)
            yield from _flatten(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(messages, (list, tuple)):
        for inner in messages:
            yield from _flatten(inner, path)
    else:
        yield path, messages if isinstance(messages, str) else str(messages)
