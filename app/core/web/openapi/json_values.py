"""Values of an application's schemas, as the OpenAPI document can show them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any

from marshmallow import fields

# The JSON encoder writes integers of 64 bits, with their sign.
_BITS = 63


def as_json(value: object) -> Any:
    """Return the value with the types of JSON. Unknown types become strings, because one schema
    must not make the document of all routes fail."""
    match value:
        case None | bool():
            return value
        case Enum():
            return as_json(value.value)
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case int() | float() | Decimal():
            if isinstance(value, int) and value.bit_length() <= _BITS:
                return int(value)
            number = float(Decimal(value))
            return number if isfinite(number) else None
        case timedelta():
            return value.total_seconds()
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {str(as_json(name)): as_json(each) for name, each in value.items()}
        case Set():
            # In an order that all processes share.
            return sorted(map(as_json, value), key=str)
        case list() | tuple():
            return [as_json(each) for each in value]
    return str(value)


def as_sent(field: fields.Field[Any], value: object) -> object:
    """Return a value of the field as requests and responses have it, such as a string for a Decimal
    with `as_string`. A value that is no value of the field is shown as it is."""
    if isinstance(field, (fields.Function, fields.Method)):
        return as_json(value)
    try:
        return as_json(field._serialize(value, "", None))
    except Exception:  # whatever an application's field raises
        return as_json(value)
