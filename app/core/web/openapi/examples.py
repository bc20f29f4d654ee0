"""Examples: requests of common tasks as shell commands, and those of operations, completed for this
application."""

import re
from collections.abc import Iterator, Mapping

from flask import Flask

from ...types import JsonObject
from ..blueprint import Blueprint
from .json_schemas import JsonSchema

Components = dict[str, JsonSchema]

_VIEW = re.compile(r"\{(\w+)\}")
_EXAMPLES = """
## Examples

Each example uses the variables of the examples before it.

```sh
server={server}
```
"""
_EXAMPLE = """
### {title}

```sh
{commands}
```
"""


def task_examples(app: Flask, paths: Mapping[str, str], server: str) -> str:
    """Return the tasks of the mounted blueprints. `paths` has the path of each endpoint."""
    flows = [
        _EXAMPLE.format(title=title, commands=commands.strip())
        for title, commands in _flows(app, paths)
    ]
    if not flows:
        return ""
    if "://" not in server:
        server = f"https://accounts.example.com{server.rstrip('/')}"
    return "".join([_EXAMPLES.format(server=server), *flows])


def _flows(app: Flask, paths: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for mount, blueprint in app.blueprints.items():
        if not isinstance(blueprint, Blueprint) or blueprint.flow is None:
            continue
        title, commands = blueprint.flow
        views = set(_VIEW.findall(commands))
        # An application can leave out routes of a blueprint.
        if all(f"{mount}.{view}" in paths for view in views):
            for view in views:
                commands = commands.replace(f"{{{view}}}", paths[f"{mount}.{view}"])
            yield title, commands


_BY_FORMAT = {
    "date-time": "2030-01-01T12:00:00+00:00",
    "date": "2030-01-01",
    "uuid": "1f0c2a52-8f3e-4d55-9a0e-6d3c5b7f9e21",
}
_BY_TYPE: JsonObject = {"string": "text", "integer": 1, "number": 1.0, "boolean": False}


def completed(example: object, schema: JsonSchema, components: Components) -> object:
    """Return the example with the properties that it lacks: an application's schema may require
    more than Frontdesk's."""
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


def _of_the_kind(example: object, schema: JsonSchema) -> object:
    """Convert account ids: Frontdesk's examples have integers, an application may use others."""
    if type(example) is int and "string" in schema.get("type", ()):
        return _BY_FORMAT.get(schema.get("format", ""), str(example))
    return example


def _sample(schema: JsonSchema, components: Components) -> object:
    if {"type": "null"} in schema.get("anyOf", ()) or "null" in schema.get("type", ()):
        return None
    schema = _resolved(schema, components)
    if "example" in schema:
        return schema["example"]
    if choices := schema.get("enum"):
        return choices[0]
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return completed({}, schema, components)
    if kind == "array":
        return [_sample(schema.get("items", {}), components)] if schema.get("minItems") else []
    return _BY_FORMAT.get(schema.get("format", ""), _BY_TYPE.get(kind))


def _resolved(schema: JsonSchema, components: Components) -> JsonSchema:
    """Resolve references, merge the parts of `allOf`, and choose the first of `anyOf`."""
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ())[:1]):
        schema = {**_resolved(part, components), **schema}
    return schema
