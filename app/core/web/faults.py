"""The codes of validation errors, by the class of the field or validator that fails.

Fields and validators of Frontdesk raise a `CodedMessage`. Those of marshmallow, which the schemas
of an application use, get their codes here: a schema is prepared once, before it loads a request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from ..coded_messages import CodedMessage, ValidationMessage
from ..errors import Fault
from ..types import Values

Code = tuple[str, Values]
Validator = Callable[[Any], object]
Messages = dict[str, Any]

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
    schema.error_messages = _coded_by_key(schema.error_messages, schema)
    for field in schema.load_fields.values():
        prepare_field(field)
    return schema


def prepare_field(field: fields.Field[Any]) -> None:
    field.error_messages = _coded_by_key(field.error_messages, field)
    field.validators = [_with_code(check) for check in field.validators]
    match field:
        case fields.Nested():
            _prepare_at_first_use(field)
        case fields.List(inner=inner):
            prepare_field(inner)
        case fields.Tuple(tuple_fields=inner):
            for each in inner:
                prepare_field(each)
        case fields.Mapping(key_field=key, value_field=value):
            for each in filter(None, (key, value)):
                prepare_field(each)


def validators_of(field: fields.Field[Any]) -> list[Validator]:
    """Return the validators of a field as its schema declares them."""
    return [each.check if isinstance(each, _Coded) else each for each in field.validators]


def _prepare_at_first_use(field: fields.Nested) -> None:
    """Prepare the nested schema with the first value: a schema can contain itself."""
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


def _coded(message: Any, code: Code, *, is_own: bool) -> Any:
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


class _Coded:
    """A validator of marshmallow whose errors have codes."""

    def __init__(self, check: Validator, code_of: Callable[[Any], Code]) -> None:
        self.check = check
        self._code_of = code_of
        self._error = getattr(check, "error", None)
        self._default = getattr(check, "default_message", None)

    def __call__(self, value: object) -> object:
        try:
            return self.check(value)
        except ValidationError as error:
            is_own = self._error not in (None, self._default)
            error.messages = _coded(error.messages, self._code_of(value), is_own=is_own)
            raise


def _with_code(check: Validator) -> Validator:
    """Return a validator whose errors have a code, or the validator itself if it is not one of
    marshmallow's."""
    if isinstance(check, validate.And):
        return validate.And(*map(_with_code, check.validators))
    code_of = _code_function(check)
    return check if code_of is None else _Coded(check, code_of)


def _code_function(check: Validator) -> Callable[[Any], Code] | None:
    match check:
        case validate.Length():
            return lambda value: _length(check, value)
        case validate.Range(min=low, max=high):
            code = ("out_of_range", _without_none(min=low, max=high))
        case validate.OneOf(choices=choices):
            code = _not_one_of(choices)
        case validate.NoneOf():
            code = ("reserved", {})
        case validate.Equal(comparable=comparable):
            code = _not_one_of([comparable])
        case validate.Email():
            code = _format("email")
        case validate.URL():
            code = _format("url")
        case validate.Regexp():
            code = _format("pattern")
        case _:
            return None
    return lambda _value: code


def _length(check: validate.Length, value: Any) -> Code:
    shortest, longest = (
        (check.min, check.max) if check.equal is None else (check.equal, check.equal)
    )
    if shortest is not None and len(value) < shortest:
        return "too_short", {"min": shortest}
    return "too_long" if isinstance(value, (str, bytes)) else "too_many", {"max": longest}


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
