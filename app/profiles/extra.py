"""Additional properties of a profile, stored unchanged within limits."""

import orjson

from ..core.coded_messages import CodedMessage
from ..core.types import JsonObject, Values
from ..core.web.fields import is_storable

MAX_PROPERTIES = 64
MAX_BYTES = 16 * 1024

# marshmallow's key for errors of the whole body.
WHOLE = "_schema"

NOT_STORABLE_VALUE = CodedMessage(
    "Contains what cannot be stored.", "invalid_format", expected="text"
)
TOO_MANY_PROPERTIES = CodedMessage(
    f"At most {MAX_PROPERTIES} additional properties are allowed.", "too_many", max=MAX_PROPERTIES
)
TOO_MANY_BYTES = CodedMessage(
    f"Additional properties can have at most {MAX_BYTES // 1024} KiB.", "too_long", max=MAX_BYTES
)


def find_errors(extra: Values) -> dict[str, list[CodedMessage]]:
    """Return the errors of additional properties by name."""
    faults = {
        name: [NOT_STORABLE_VALUE] for name, value in extra.items() if not _is_storable(value)
    }
    if len(extra) > MAX_PROPERTIES:
        faults[WHOLE] = [TOO_MANY_PROPERTIES]
    elif not faults and len(_encoded(extra)) > MAX_BYTES:
        faults[WHOLE] = [TOO_MANY_BYTES]
    return faults


def as_json(extra: Values) -> JsonObject:
    """Return the properties as JSON; values such as dates become strings."""
    found: JsonObject = orjson.loads(_encoded(extra))
    return found


def _encoded(extra: Values) -> bytes:
    return orjson.dumps(extra, default=str)


def _is_storable(value: object) -> bool:
    """Return whether a value can be stored. Its nesting is limited when the body is parsed."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**64  # the integers that orjson serializes
    if isinstance(value, str):
        return is_storable(value)
    if isinstance(value, list):
        return all(_is_storable(item) for item in value)
    if isinstance(value, dict):
        return all(is_storable(name) and _is_storable(item) for name, item in value.items())
    return True
