"""Schema fields that take only what both databases can store, and say so with a 422."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate

from ..database import MAX_ID

_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_TRUE, _FALSE = {"true", "1"}, {"false", "0"}


def storable(text: str) -> bool:
    """PostgreSQL refuses NUL, and no encoding has lone surrogates."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _listed(checks: Any) -> list[Any]:
    if checks is None:
        return []
    return list(checks) if isinstance(checks, (list, tuple)) else [checks]


class Text(fields.String):
    def __init__(self, *, max: int, min: int = 0, strip: bool = False, **kwargs: Any) -> None:
        self.strip = strip
        checks = [validate.Length(min=min or None, max=max), *_listed(kwargs.pop("validate", None))]
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not isinstance(value, str):
            raise self.make_error("invalid")
        if not storable(text):
            raise ValidationError("Contains characters that cannot be stored.")
        return text.strip() if self.strip else text


class Whole(fields.Integer):
    """A whole number in ASCII digits; Python's own reading also takes `1_0` and `٣`."""

    def __init__(self, *, min: int = 0, max: int = MAX_ID, **kwargs: Any) -> None:
        checks = [validate.Range(min=min, max=max), *_listed(kwargs.pop("validate", None))]
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise self.make_error("invalid")
        if isinstance(value, str) and not _INTEGER.fullmatch(value):
            raise self.make_error("invalid")
        return int(value)


class Flag(fields.Boolean):
    """true or false, and in a query also 1 or 0; marshmallow's own also takes `y` and `off`."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise self.make_error("invalid", input=value)


class Moment(fields.AwareDateTime):
    """ISO 8601 in UTC with its offset."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(format="iso", **kwargs)


class Received(Schema):
    """What a client sends. Unknown properties are passed over, unless a schema says otherwise."""

    class Meta:
        unknown = EXCLUDE

    @pre_load
    def refuse_odd_names(self, data: Any, **kwargs: Any) -> Any:
        if isinstance(data, Mapping) and not all(storable(str(name)) for name in data):
            raise ValidationError("A property name contains characters that cannot be stored.")
        return data


class Page(Received):
    """The bounds of every list."""

    offset = Whole(load_default=0, metadata={"description": "How many to pass over"})
    limit = Whole(
        load_default=100, min=1, max=500, metadata={"description": "How many to return at most"}
    )


class Message(Schema):
    """The answer where there is no natural resource to return."""

    message = fields.String(required=True, metadata={"example": "Done"})
