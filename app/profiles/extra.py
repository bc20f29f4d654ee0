"""The properties of a profile that we do not know: kept as they come, within bounds."""

from __future__ import annotations

import orjson

from ..core.types import JsonObject, Values
from ..core.web.fields import is_storable

MOST_PROPERTIES = 64
MOST_BYTES = 16 * 1024

# The key under which marshmallow reports what concerns the whole of a body.
WHOLE = "_schema"


def faults_in(extra: Values) -> dict[str, list[str]]:
    """Return the errors of additional properties by name."""
    faults = {
        name: ["Contains what cannot be stored."]
        for name, value in extra.items()
        if not _is_storable(value)
    }
    if len(extra) > MOST_PROPERTIES:
        faults[WHOLE] = [f"At most {MOST_PROPERTIES} further properties are kept."]
    elif not faults and len(_encoded(extra)) > MOST_BYTES:
        faults[WHOLE] = [f"Further properties may have {MOST_BYTES // 1024} KiB in all."]
    return faults


def as_json(extra: Values) -> JsonObject:
    """What a host's schema makes of a value (a date, a decimal) is kept as text."""
    found: JsonObject = orjson.loads(_encoded(extra))
    return found


def _encoded(extra: Values) -> bytes:
    return orjson.dumps(extra, default=str)


def _is_storable(value: object) -> bool:
    """Whether a value can be stored. The reader of the body has limited its nesting."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**64  # what the JSON of an answer has
    if isinstance(value, str):
        return is_storable(value)
    if isinstance(value, list):
        return all(_is_storable(item) for item in value)
    if isinstance(value, dict):
        return all(is_storable(name) and _is_storable(item) for name, item in value.items())
    return True
