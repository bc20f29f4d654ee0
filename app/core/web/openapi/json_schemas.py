"""Converts schemas and fields to JSON Schema that all client generators can read."""

from __future__ import annotations

import json
import logging
from collections.abc import Set
from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields, missing, validate

from ..fields import AccountId, EnumField, NamedEnum, ObjectOrWord, Text
from .json_values import as_json, as_sent

JsonSchema = dict[str, Any]

logger = logging.getLogger(__name__)
_VALUES = {"default", "example", "minimum", "maximum", "x-minimum", "x-maximum"}


class Converter(OpenAPIConverter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.names_of_sets: dict[str, str] = {}

    def field2property(self, field: fields.Field[Any]) -> JsonSchema:
        if isinstance(field, EnumField):
            return self._enum(field)
        if isinstance(field, AccountId):
            return self.field2property(field.as_described())
        try:
            found: JsonSchema = super().field2property(field)
        except Exception:
            logger.warning("The OpenAPI document lacks details of %r", field, exc_info=True)
            found = {**self.field2type_and_format(field), **self.metadata2properties(field)}
        if isinstance(field, Text) and field.pattern:
            found["pattern"] = field.pattern
        if isinstance(field, ObjectOrWord):
            word = {"type": "string", "const": field.word}
            found["anyOf"] = [{"$ref": found.pop("$ref")}, word]
        for name, value in found.items():
            if name in _VALUES:
                found[name] = as_sent(field, value)
            elif name == "enum":
                found[name] = [as_sent(field, each) for each in value]
        found = as_json(found)
        # apispec sets the format of some dates to None.
        return _by_itself({k: v for k, v in found.items() if v is not None or k == "default"})

    def field2type_and_format(self, field: fields.Field[Any], **kwargs: object) -> JsonSchema:
        if isinstance(field, fields.Number) and field.as_string:
            return {"type": "string"}
        return super().field2type_and_format(field, **kwargs)

    def datetime2properties(self, field: fields.Field[Any], **kwargs: object) -> JsonSchema:
        found = super().datetime2properties(field, **kwargs)
        # The example and the minimum of timestamps are strings, though they are numbers.
        return {name: found[name] for name in ("type", "format") if name in found}

    def field2default(self, field: fields.Field[Any], **kwargs: object) -> JsonSchema:
        default = field.metadata.get("default", field.load_default)
        return {} if default is missing or callable(default) else {"default": default}

    def field2choices(self, field: fields.Field[Any], **kwargs: object) -> JsonSchema:
        if any(isinstance(each, validate.ContainsOnly) for each in field.validators):
            # The choices are those of the items.
            return {}
        found: JsonSchema = super().field2choices(field, **kwargs)
        if any(isinstance(getattr(each, "choices", None), Set) for each in field.validators):
            found["enum"].sort(key=str)
        return found

    def _field2parameter(self, field: fields.Field[Any], *, name: str, location: str) -> JsonSchema:
        found: JsonSchema = super()._field2parameter(field, name=name, location=location)
        # A query parameter or a header cannot be null, only absent.
        found["schema"] = _without_null(found["schema"])
        return found

    def schema2jsonschema(self, schema: Any) -> JsonSchema:
        found: JsonSchema = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        if found.get("additionalProperties") is False:
            # Later versions may add properties.
            del found["additionalProperties"]
        for name, each in found["properties"].items():
            found["properties"][name] = _default_in_words(each)
        # Keywords that no field can set.
        found.update(as_json(getattr(schema.Meta, "json_schema", {})))
        return found

    def _enum(self, field: EnumField) -> JsonSchema:
        one_of: list[JsonSchema] = [self._reference(field.enum)]
        if field.enum.is_open:
            one_of.append({"type": "string", "maxLength": field.max})
        if field.allow_none:
            one_of.append({"type": "null"})
        found = one_of[0] if len(one_of) == 1 else {"anyOf": one_of}
        described = {"description": text} if (text := field.metadata.get("description")) else {}
        default = {} if callable(field.load_default) else super().field2default(field, ret={})
        return _by_itself({**found, **described, **default})

    def _reference(self, named_enum: NamedEnum) -> JsonSchema:
        components = self.spec.components
        name = self.names_of_sets.get(named_enum.name)
        if name is None:
            name = named_enum.name
            while name in components.schemas:
                name += "Word"  # an application's schema has this name
            self.names_of_sets[named_enum.name] = name
            enum: JsonSchema = {"type": "string", "enum": named_enum.known_values()}
            if named_enum.description:
                enum["description"] = named_enum.description
            components.schema(name, enum)
        return {"$ref": f"#/components/schemas/{name}"}


class Plugin(MarshmallowPlugin):
    Converter = Converter


def component_name(schema: object) -> str:
    kind: type[Schema] = schema if isinstance(schema, type) else type(schema)
    return kind.__name__


def _by_itself(found: JsonSchema) -> JsonSchema:
    """Wrap a reference: many tools ignore other keywords next to `$ref`."""
    if "$ref" not in found or len(found) == 1:
        return found
    reference = {"$ref": found.pop("$ref")}
    return {"allOf": [reference], **found}


def _without_null(found: JsonSchema) -> JsonSchema:
    if isinstance(kinds := found.get("type"), list) and "null" in kinds:
        found["type"] = next(kind for kind in kinds if kind != "null")
    if found.get("default", True) is None:
        del found["default"]
    alternatives = [each for each in found.get("anyOf", ()) if each != {"type": "null"}]
    if len(alternatives) == 1:
        del found["anyOf"]
        return _by_itself({**alternatives[0], **found})
    return found


def _in_json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _default_in_words(found: JsonSchema) -> JsonSchema:
    """Describe the default in the text: generators treat a property with a default as required."""
    if "default" not in found:
        return found
    default = found.pop("default")
    if default is None:
        return found
    words = [found.pop("description", ""), f"Default: `{_in_json(default)}`."]
    return _by_itself({**found, "description": " ".join(filter(None, words))})
