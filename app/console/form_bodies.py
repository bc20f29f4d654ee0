"""A form's fields as the JSON that the API's schema reads.

A field that was left empty is not sent, or is null where the schema takes that. A checkbox is
written with a hidden field of the same name in front, so that one left empty says false; a field
within another is named `data.title`.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields
from werkzeug.datastructures import MultiDict

Form = MultiDict[str, str]


def body_of(schema: Schema, form: Form, prefix: str = "") -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, field in schema.load_fields.items():
        key = field.data_key or name
        found = _value(field, form, f"{prefix}{key}")
        if found is not _ABSENT:
            body[key] = found
    return body


_ABSENT = object()


def _value(field: fields.Field[Any], form: Form, name: str) -> Any:
    if isinstance(field, fields.Nested):
        if not (field.required or any(each.startswith(f"{name}.") for each in form)):
            return _ABSENT
        return body_of(field.schema, form, f"{name}.")
    if name not in form:
        return _ABSENT
    if isinstance(field, fields.List):
        return [_text(value) for value in form.getlist(name) if value]
    value = _text(form.getlist(name)[-1])
    if isinstance(field, fields.Boolean):
        return value == "true" if value in ("true", "false") else value
    if value:
        return value
    if field.allow_none:
        return None
    # What must be there is told to be empty, in the schema's own words.
    return value if field.required else _ABSENT


def _text(value: str) -> str:
    """Browsers send a line's end as two characters."""
    return value.replace("\r\n", "\n")
