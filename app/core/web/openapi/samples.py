"""Completes examples for this application: its schemas may require more than Frontdesk's."""

from typing import Any

from ...types import JsonObject
from .json_schemas import JsonSchema

Components = dict[str, JsonSchema]

_BY_FORMAT = {
    "date-time": "2030-01-01T12:00:00+00:00",
    "date": "2030-01-01",
    "uuid": "1f0c2a52-8f3e-4d55-9a0e-6d3c5b7f9e21",
}
_BY_TYPE: JsonObject = {"string": "text", "integer": 1, "number": 1.0, "boolean": False}


def completed(example: object, schema: JsonSchema, components: Components) -> Any:
    """Return the example with the required properties that it lacks."""
    schema = _resolved(schema, components)
    if isinstance(example, list):
        items = schema.get("items", {})
        return [completed(each, items, components) for each in example]
    if not isinstance(example, dict):
        return _of_the_kind(example, schema)
    properties = schema.get("properties", {})
    present = {
        name: completed(value, properties.get(name, {}), components)
        for name, value in example.items()
    }
    missing = [name for name in schema.get("required", ()) if name not in example]
    return present | {name: _sample(properties.get(name, {}), components) for name in missing}


def _of_the_kind(example: object, schema: JsonSchema) -> Any:
    """Convert account ids: Frontdesk's examples have integers, an application may use others."""
    if type(example) is int and "string" in schema.get("type", ()):
        return _BY_FORMAT.get(schema.get("format", ""), str(example))
    return example


def _sample(schema: JsonSchema, components: Components) -> Any:
    if {"type": "null"} in schema.get("anyOf", ()) or "null" in schema.get("type", ()):
        return None
    schema = _resolved(schema, components)
    if "example" in schema:
        return schema["example"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return completed({}, schema, components)
    if kind == "array":
        return [_sample(schema.get("items", {}), components)] if schema.get("minItems") else []
    return _BY_FORMAT.get(schema.get("format", ""), _BY_TYPE[kind])


def _resolved(schema: JsonSchema, components: Components) -> JsonSchema:
    """Resolve references, merge the parts of `allOf`, and choose the first of `anyOf`."""
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ())[:1]):
        schema = {**_resolved(part, components), **schema}
    return schema
